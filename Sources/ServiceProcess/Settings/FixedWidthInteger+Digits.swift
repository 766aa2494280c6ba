extension FixedWidthInteger {
    /// Parses a number of digits. Returns `nil` for a sign, which the standard library would
    /// accept.
    package init?(digits text: some StringProtocol, radix: Int = 10) {
        guard text.first?.isHexDigit == true else { return nil }
        self.init(text, radix: radix)
    }
}
