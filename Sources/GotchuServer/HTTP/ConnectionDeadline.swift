internal import NIOCore

/// Closes a connection at a time that may be changed. Used on the connection's event loop.
final class ConnectionDeadline {
    private var deadline = NIODeadline.distantFuture
    /// The timer. If the deadline has been extended, it fires before it and is scheduled again.
    private var timer: (task: Scheduled<Void>, time: NIODeadline)?

    /// A Boolean that is true if the connection has a deadline.
    var isSet: Bool { deadline < .distantFuture }

    /// Sets the deadline: the connection is closed after `time` unless the deadline is changed.
    func set(_ time: TimeAmount, _ context: ChannelHandlerContext) {
        deadline = .now() + time
        if let timer, timer.time <= deadline { return }
        timer?.task.cancel()
        schedule(context)
    }

    /// Removes the deadline. The timer stays for the next one.
    func clear() {
        deadline = .distantFuture
    }

    /// Ends the timer with the connection.
    func cancel() {
        timer?.task.cancel()
    }

    private func schedule(_ context: ChannelHandlerContext) {
        let task = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) {
            self.timer = nil
            if self.deadline <= .now() {
                context.close(promise: nil)
            } else if self.isSet {
                self.schedule(context)
            }
        }
        timer = (task, deadline)
    }
}
