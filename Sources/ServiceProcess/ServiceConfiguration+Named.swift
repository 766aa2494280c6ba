package import ServiceLifecycle

extension ServiceGroupConfiguration.ServiceConfiguration {
    /// Creates a service that logs and errors name by its type. Its description, the default name,
    /// contains all that it holds: pages, configuration, secrets.
    package init(
        named service: any Service,
        onFailure failureTermination: TerminationBehavior = .cancelGroup
    ) {
        self.init(
            service: service,
            failureTerminationBehavior: failureTermination,
            serviceName: "\(type(of: service))"
        )
    }
}
