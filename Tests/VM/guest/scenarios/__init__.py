"""The scenarios, in order: `run(world)` of each module."""

ORDER = (
    "air",
    "tap",
    "phone",
    "ambiguous",
    "strangers",
    "expires",
    "abandons",
    "crash",
    "bluetoothd",
    "latency",
    "management",
    "rotates",
    "shares",
    "recovers",
    "hiccups",
    "masked",
    "replugged",
    "quiet",
)
