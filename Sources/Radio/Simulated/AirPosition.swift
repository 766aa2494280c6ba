/// A place on the plane of the simulated air, in metres.
package struct AirPosition: Equatable, Sendable {
    package var x: Double
    package var y: Double

    package init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }

    /// Reads `X,Y`.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 2, let x = Double(parts[0]), let y = Double(parts[1]),
            x.isFinite, y.isFinite
        else { return nil }
        self.init(x: x, y: y)
    }

    func distance(to other: AirPosition) -> Double {
        let (dx, dy) = (x - other.x, y - other.y)
        return (dx * dx + dy * dy).squareRoot()
    }
}
