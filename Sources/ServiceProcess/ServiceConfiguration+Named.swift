package import ServiceLifecycle

extension ServiceGroupConfiguration.ServiceConfiguration {
    /// A service that logs and errors call by its type's name. Its description, which they would
    /// have otherwise, is all that it holds: pages, configuration, secrets.
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
