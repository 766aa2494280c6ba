internal import Glibc
internal import NIOCore
internal import ServiceProcess

extension ServerFailure {
    /// Creates the failure if the server cannot listen at its address; `nil` for any other error.
    init?(_ error: any Error, at address: ListenAddress) {
        let place = address.text
        switch error {
        case let error as IOError where error.errnoCode == EADDRINUSE:
            self.init(
                .unavailable,
                "Another program listens at \(place) already.",
                fix: "Stop it, or name another port with --listen."
            )
        case let error as IOError where error.errnoCode == EACCES:
            self.init(
                .configuration,
                "This user may not listen at \(place).",
                fix: "Name a port above 1023 with --listen."
            )
        case let error as IOError where error.errnoCode == EADDRNOTAVAIL:
            self.init(
                .configuration,
                "This machine does not have the address \(place) to listen at.",
                fix: "Name one of its own with --listen."
            )
        case is SocketAddressError.UnknownHost:
            self.init(
                .configuration,
                "The address \(place) to listen at is not known here.",
                fix: "Name one that this machine has with --listen."
            )
        default:
            return nil
        }
    }
}
