/// The distance at which a presence is judged to be.
package enum Verdict: String, Codable, CaseIterable, Sendable {
    /// Held against the device: payable.
    case tap
    /// Within reach: shown, payable after a choice.
    case near
    /// Heard, but not within reach.
    case far
    /// Near, but another one is about as near: neither may be picked automatically.
    case ambiguous
}
