"""A simulated air: virtual Bluetooth LE controllers, which the kernel uses like real ones.

Each controller is an `hciN` of the kernel, through /dev/vhci. A controller that scans hears the
adverts of the other controllers and of strangers (devices that are not ours), at the level that is
set for the pair. So the real kernel and the real bluetoothd can be tested with signals of any level
on a machine without Bluetooth.

    scheduler   timers over a clock that tests may replace
    advert      what is on the air, and how advertisement data is written
    medium      the levels, noise and loss between senders and receivers
    filters     how a controller drops repeated adverts
    controller  the host controller interface of one LE controller
    control     the commands of the Unix socket
    client      the other end of that socket, for scenarios

Only modules of Python's standard library that are imported quickly are used, because the CPU is
emulated.
"""
