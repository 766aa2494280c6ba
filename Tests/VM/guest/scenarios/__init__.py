"""The scenarios, in the order in which they run. Each module has a function `run(world)`."""

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
