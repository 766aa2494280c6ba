import ServiceLifecycle

extension Task where Success == Never, Failure == Never {
    /// A Boolean that is true when a service's loop should end.
    package static var isCancelledOrShuttingDown: Bool {
        isCancelled || isShuttingDownGracefully
    }
}
