"""The programs inside the virtual machine: the whole stack, and the payment scenarios.

    deadline    waits for conditions, never for time to pass
    process     a program under test: its log, its signals, its end
    http        JSON over HTTP, to a TCP port or to a Unix socket
    events      a daemon's event stream, kept in full
    stack       bus, bluetoothd, air, payment server, a kiosk's daemon and a payer's
    scenario    runs, times and checks a scenario
    kernel      changes of adapters directly in the kernel
    recovery    measures a daemon's recovery after such changes
    scenarios   the scenarios, one in each file

`python3 -m guest --programs DIR --out DIR` runs them all and writes OUT/results.json.
"""
