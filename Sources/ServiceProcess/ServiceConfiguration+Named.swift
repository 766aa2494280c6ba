package import ServiceLifecycle

extension ServiceGroupConfiguration.ServiceConfiguration {
    /// Names a service by its type in logs and errors. The default name is the service's
    /// description. It would show all stored values, including secrets.
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
