"""The code inside the virtual machine: it starts the whole stack and runs the payment scenarios.

    deadline    waits for conditions
    process     a program under test: its log, its signals, its end
    http        JSON over HTTP, to a TCP port or to a Unix socket
    events      a daemon's event stream, recorded in full
    stack       bus, bluetoothd, air, payment server, and the daemons of a kiosk and a payer
    scenario    runs, times and checks a scenario
    kernel      changes adapters directly in the kernel
    recovery    measures a daemon's recovery after such changes
    scenarios   the scenarios, one in each file

`python3 -m guest --programs DIR --out OUT` runs all scenarios and writes OUT/results.json.
"""
