"""The programs inside the virtual machine: the whole stack, and one payment scenario after another.

    deadline    waiting for something to become true, never for time to pass
    process     a program under test: its log, its signals, its end
    http        JSON over HTTP, to a TCP port or to a Unix socket
    events      a daemon's event stream, kept in full
    stack       bus, bluetoothd, air, payment server, a kiosk's daemon and a payer's
    scenario    how a scenario is run, timed and judged
    kernel      what happens to adapters behind everybody's back
    recovery    how fast a daemon is back after that
    scenarios   the stories, one a file

`python3 -m guest --programs DIR --out DIR` runs them all and writes OUT/results.json.
"""
