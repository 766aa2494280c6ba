"""Tests of the pages with the real programs in the simulated air, and a real Chromium.

    deadline    waits for conditions, with limits for slow machines
    shop        a payment server, a kiosk's daemon with its screens, and a payer's daemon
    chromium    the browser: its windows, their requests, console messages and stored data
    pictures    compares a picture of a page with the expected one
    stage       the display's page with scripted states
    stories     the stories with their checks, one function each

`guest` (Tests/VM) provides HTTP, processes and event streams.
`python -m browser --programs DIR --out DIR [STORY...]` runs the stories and writes OUT/results.json.
"""
