internal import GotchuCore
internal import HTTPTypes
internal import Synchronization

/// The limit that applied to the current request, for the reply's headers
/// (draft-ietf-httpapi-ratelimit-headers-10).
final class RateLimitStatus: Sendable {
    /// The status of the request that the current task handles.
    @TaskLocal static var current: RateLimitStatus?

    private let fields = Mutex<HTTPFields>([:])

    /// The headers of the limit that was recorded last.
    var headers: HTTPFields { fields.withLock { $0 } }

    /// Records the tokens that a caller has left under a limit.
    func record(_ name: String, _ rate: TokenBucket.Rate, _ bucket: TokenBucket) {
        let window = Int(rate.refill.inSeconds.rounded(.up))
        let left = bucket.remaining
        let reset = Int(((rate.capacity - Double(left)) / rate.perSecond).rounded(.up))
        fields.withLock {
            $0[.rateLimitPolicy] = "\"\(name)\";q=\(Int(rate.capacity));w=\(window)"
            $0[.rateLimit] = "\"\(name)\";r=\(left);t=\(reset)"
        }
    }
}

extension HTTPField.Name {
    static let rateLimit = known("RateLimit")
    static let rateLimitPolicy = known("RateLimit-Policy")
}
