import GotchuAPI
import GotchuCore

/// A step of a request, from the first call to the payment server on.
enum RequestStep: Sendable {
    /// The payment server is asked for a session. The number names the attempt.
    case asking(Int, NewRequest)
    /// There will be none on the air.
    case askingFailed(Int)
    case opened(Int, RequestView)
    /// A request of before the start; the payment server has not spoken of it yet.
    case resumed(RequestView)
    case changed(RequestView)
    /// The payment server has spoken of it; it may be as it was.
    case confirmed(SessionID)
}
