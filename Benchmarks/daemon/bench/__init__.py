"""gotchud's costs and delays, against bleak on the same bus in the same run.

    __main__    options, the order of things, results.json
    adverts     what is advertised, and when
    bluez       a scripted bluetoothd on a private bus, a process of its own
    kernel      the kernel's end of a management socket
    peer        bleak, listening, a process of its own
    daemon      gotchud as it is shipped, and what it uses
    events      a reader of gotchud's events
    report      lines for people
"""
