"""What a shop, a payer and a merchant see: the real programs on the simulated air, and a real Chromium.

    deadline    waiting for an event, for as long as the machine needs
    shop        a payment server, a kiosk's daemon with its screens, a payer's daemon
    chromium    the one browser: windows, what they load, what they complain about, what they keep
    pictures    a picture of a page held against the one that is right
    stage       the display's page with states that are written for it
    stories     what happens, and what must be seen then: a function each

`guest` (Tests/VM) lends its HTTP, its processes and its event streams.
`python -m browser --programs DIR --out DIR [STORY...]` tells them and writes OUT/results.json.
"""
