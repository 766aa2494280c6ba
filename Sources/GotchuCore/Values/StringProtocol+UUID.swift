extension StringProtocol {
    /// A Boolean that is true if the text is a UUID in lower case.
    package var isUUID: Bool {
        utf8.count == 36
            && utf8.enumerated().allSatisfy { index, byte in
                let isHyphen = byte == UInt8(ascii: "-")
                let isDigit =
                    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
                return [8, 13, 18, 23].contains(index) ? isHyphen : isDigit
            }
    }

    /// The UUID in lower case; `nil` if the text is none. Swift's clients write upper case.
    package var uuid: String? {
        guard utf8.count == 36 else { return nil }
        let text = lowercased()
        return text.isUUID ? text : nil
    }
}
