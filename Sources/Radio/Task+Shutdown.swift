import ServiceLifecycle

extension Task where Success == Never, Failure == Never {
    /// Whether a loop of a service should come to its end.
    package static var isCancelledOrShuttingDown: Bool {
        isCancelled || isShuttingDownGracefully
    }
}
