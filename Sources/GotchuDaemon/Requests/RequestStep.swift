import GotchuAPI
import GotchuCore

/// A step of a request, from the first call to the payment server on.
enum RequestStep: Sendable {
    /// The payment server is asked for a session. The number identifies the attempt.
    case sessionRequested(Int, NewRequest)
    /// The attempt failed: no request comes on the air.
    case sessionRequestFailed(Int)
    case opened(Int, RequestView)
    /// A request from before the start, which the payment server has not confirmed yet.
    case resumed(RequestView)
    case changed(RequestView)
    /// The payment server has reported on it; it may be unchanged.
    case confirmed(SessionID)
}
