"""A simulated air: virtual Bluetooth LE controllers that the kernel takes for real ones.

Every controller here is an `hciN` of the kernel, through /dev/vhci. What one of them advertises, and what
strangers advertise, is heard by every other that scans, at the level that was set for that pair. So the
real kernel and the real bluetoothd can be tested for what they do with a signal of -40 dBm, on a machine
without any Bluetooth.

    scheduler   timers over a clock that tests may replace
    advert      what is on the air, and how advertisement data is written
    medium      who hears whom, at which level, with which noise and loss
    filters     how a controller drops repeated adverts
    controller  the host controller interface of one LE controller
    control     the commands of the Unix socket
    client      the other end of that socket, for scenarios

Only Python's standard library is used, and only its quick-to-import parts: an emulated CPU runs this.
"""
