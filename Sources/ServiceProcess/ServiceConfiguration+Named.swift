package import ServiceLifecycle

extension ServiceGroupConfiguration.ServiceConfiguration {
    /// Names a service by its type in logs and errors. The default name, its description, would
    /// expose all that it holds, secrets included.
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
