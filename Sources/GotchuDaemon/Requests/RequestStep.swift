import GotchuAPI
import GotchuCore

/// A step of a request, from the first call to the payment server.
enum RequestStep: Sendable {
    /// The payment server is being asked for a session. The number identifies the attempt.
    case sessionRequested(Int, NewRequest)
    /// The attempt has failed. No request was created.
    case sessionRequestFailed(Int)
    case opened(Int, RequestView)
    /// A request from before the start was resumed. The payment server has not reported on it yet.
    case resumed(RequestView)
    case changed(RequestView)
    /// The payment server has reported on a request. The request may be unchanged.
    case confirmed(SessionID)
}
