extension String {
    /// The text quoted as one word of a POSIX shell.
    package var shellQuoted: String {
        let plain = utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"):
                true
            default: "-_./:=@,+".utf8.contains(byte)
            }
        }
        guard !plain || isEmpty else { return self }
        let parts = split(separator: "'", omittingEmptySubsequences: false)
        return "'" + parts.joined(separator: #"'\''"#) + "'"
    }
}
