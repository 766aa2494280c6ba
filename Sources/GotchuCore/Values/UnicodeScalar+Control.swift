extension Unicode.Scalar {
    /// A Boolean that is true for a control character, a line or paragraph separator, and an
    /// embedding, override or isolate (UAX #9, 2): other text could look changed by it.
    ///
    /// It is false for directional marks, which affect a single position.
    package var controlsText: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: (0x202A...0x202E).contains(value) || (0x2066...0x2069).contains(value)
        }
    }
}
