/// The timeouts for detecting faults, and the pauses between retries. Tests shorten them.
package struct RecoveryTimings: Sendable {
    /// The time after which a false `Discovering` means that the scan has ended; it is briefly
    /// false whenever a scan restarts.
    var discoveringGrace: Duration = .milliseconds(1500)
    /// The longest time without a sign of life. The kernel ends each scan after 10.24 s. bluetoothd
    /// starts the next at once, or 5 s later if other programs scan. Even in an empty room there is
    /// a sign every 10.3 to 15.3 s. A sign that coincides with other commands may be missed.
    var quietLimit: Duration = .seconds(35)
    /// The longest time without a sign of life if the scan's cycle has not been seen yet.
    var longQuietLimit: Duration = .seconds(60)
    /// The longest time without the scan's cycle once it has been seen, even if advertisements are
    /// received.
    var cycleLimit: Duration = .seconds(45)
    /// The time for which the kernel may be busy with the scan of a bluetoothd that died: the
    /// kernel ends it after 10.24 s, and nothing on D-Bus ends it sooner.
    var busyLimit: Duration = .seconds(15)
    /// The time within which a filter, a start or any rung must bring a sign of life.
    var proofLimit: Duration = .seconds(3)
    /// The same time for a reconnection or a power cycle, which take longer themselves.
    var slowProofLimit: Duration = .seconds(8)
    /// The rest at the top of the ladder before it is climbed again; doubles each time.
    var firstRest: Duration = .seconds(10)
    var maximumRest: Duration = .seconds(300)
    /// The pause between a failure and the retry; doubles each time.
    var firstPause: Duration = .milliseconds(250)
    var maximumPause: Duration = .seconds(2)
    /// The pause before a retry while the kernel is busy with another scan, which ends by itself.
    var busyPause: Duration = .milliseconds(500)
    /// The interval between two readings of the kernel's counts of the controller.
    var pollInterval: Duration = .seconds(2)
    /// The interval if a fault is suspected. A controller answers within milliseconds.
    var fastPollInterval: Duration = .milliseconds(500)
    /// The interval while a scan may be starting: its commands follow each other within
    /// milliseconds.
    var burstPollInterval: Duration = .milliseconds(50)
    /// The time after which the kernel has given up a command (its HCI_CMD_TIMEOUT is 2 s).
    var commandLimit: Duration = .milliseconds(2200)
    /// The time within which a rung must make the kernel send the controller a command. The kernel
    /// may first have to give up a lost one.
    var answerLimit: Duration = .milliseconds(2700)
    /// The time after which the kernel has ended a scan (its DISCOV_LE_TIMEOUT is 10.24 s).
    var scanCycle: Duration = .milliseconds(10_500)
    /// The time after which a working scan has begun its next cycle: bluetoothd may wait for 5 s
    /// more (its IDLE_DISCOV_TIMEOUT).
    var nextCycle: Duration = .milliseconds(15_500)
    /// The timeout of a call to bluetoothd.
    var callTimeout: Duration = .seconds(10)
    /// The longest time for which a caller waits until its advertisement is on the air, or off it.
    var advertisingLimit: Duration = .seconds(8)

    package init() {}
}
