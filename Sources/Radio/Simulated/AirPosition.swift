/// A position on the plane of the simulated air, in metres.
package struct AirPosition: Equatable, Sendable {
    package var x: Double
    package var y: Double

    /// The distance from the centre to the limit of the air in each direction, in metres.
    private static let limit = 1_000_000.0

    package init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }

    /// Creates a position from untrusted coordinates; `nil` outside the air.
    init?(checkedX x: Double, y: Double) {
        guard x.magnitude <= Self.limit, y.magnitude <= Self.limit else { return nil }
        self.init(x: x, y: y)
    }

    /// Parses `X,Y`.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 2, let x = Double(parts[0]), let y = Double(parts[1]) else {
            return nil
        }
        self.init(checkedX: x, y: y)
    }

    func distance(to other: AirPosition) -> Double {
        let (dx, dy) = (x - other.x, y - other.y)
        return (dx * dx + dy * dy).squareRoot()
    }
}
