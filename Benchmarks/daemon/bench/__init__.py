"""Measures gotchud's costs and delays, and bleak's on the same bus in the same run.

__main__    the options, the measurements and their order, and results.json
adverts     the adverts and their times
bluez       a scripted bluetoothd on a private bus, in its own process
kernel      the kernel's end of a management socket
peer        bleak, which listens, in its own process
daemon      gotchud as it is shipped, and its use of resources
events      a reader of gotchud's events
report      the printed results
"""
