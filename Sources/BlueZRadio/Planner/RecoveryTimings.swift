/// The times after which the radio takes something to be wrong. Tests shorten them.
package struct RecoveryTimings: Sendable {
    /// `Discovering` is false for a moment whenever a scan restarts; longer means that it has
    /// ended.
    var discoveringGrace: Duration = .milliseconds(1500)
    /// Without any sign of life. The kernel ends each scan after 10.24 s and bluetoothd starts the
    /// next, beside other programs 5 s later: even in an empty room there is a sign every 10.3 to
    /// 15.3 s, and one may be missed that comes together with other commands.
    var quietLimit: Duration = .seconds(35)
    /// The same where that cycle has not been seen.
    var longQuietLimit: Duration = .seconds(60)
    /// Without the cycle where it has been seen, however much is heard.
    var cycleLimit: Duration = .seconds(45)
    /// The time that the kernel may be busy with the scan of a bluetoothd that died: it ends it
    /// after 10.24 s, and nothing on D-Bus ends it sooner.
    var busyLimit: Duration = .seconds(15)
    /// Within this a filter, a start or any rung must have shown a sign of life.
    var proofLimit: Duration = .seconds(3)
    /// For rungs that take longer themselves.
    var slowProofLimit: Duration = .seconds(8)
    /// At the top of the ladder, before it is climbed again; doubles each time.
    var firstRest: Duration = .seconds(10)
    var longestRest: Duration = .seconds(300)
    /// After a failure, before the next try; doubles each time.
    var firstPause: Duration = .milliseconds(250)
    var longestPause: Duration = .seconds(2)
    /// Before asking again for what is busy with something that ends by itself.
    var busyPause: Duration = .milliseconds(500)
    /// Between two looks at what the kernel counts of the controller.
    var look: Duration = .seconds(2)
    /// The same when something seems wrong. A controller answers within milliseconds.
    var closeLook: Duration = .milliseconds(500)
    /// The same while a scan may just be beginning: its commands come within milliseconds.
    var burstLook: Duration = .milliseconds(50)
    /// After this the kernel has given up a command (its HCI_CMD_TIMEOUT is 2 s).
    var commandLimit: Duration = .milliseconds(2200)
    /// Within this a rung must have made the kernel tell the controller something. It may first
    /// have to give up a command that was lost.
    var answerLimit: Duration = .milliseconds(2700)
    /// By then the kernel has ended a scan by itself (its DISCOV_LE_TIMEOUT is 10.24 s).
    var scanCycle: Duration = .milliseconds(10_500)
    /// By then a scan that lives has begun anew: bluetoothd may wait for 5 s more (its
    /// IDLE_DISCOV_TIMEOUT).
    var nextCycle: Duration = .milliseconds(15_500)
    /// The time that bluetoothd may take to answer.
    var callTimeout: Duration = .seconds(10)
    /// The time that a new advertisement may take to come on the air, and an old one to leave it,
    /// before the caller is told.
    var advertisingLimit: Duration = .seconds(8)

    package init() {}
}
