import ServiceLifecycle

extension Task where Success == Never, Failure == Never {
    /// A Boolean that is true when a loop of a service should come to its end.
    package static var isCancelledOrShuttingDown: Bool {
        isCancelled || isShuttingDownGracefully
    }
}
