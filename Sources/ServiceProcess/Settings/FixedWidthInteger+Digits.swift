extension FixedWidthInteger {
    /// Parses a number of digits alone, without the sign that the standard library accepts.
    package init?(digits text: some StringProtocol, radix: Int = 10) {
        guard text.first?.isHexDigit == true else { return nil }
        self.init(text, radix: radix)
    }
}
