/// JSON (RFC 8259) whose members are in the order of their names, without spaces and with slashes
/// as they are: the same value is always the same bytes.
///
/// `JSONEncoder` writes the same and takes eight times as long, which is a tenth of what a server
/// does for a sale. Values that need one of its strategies (`Date`, `Data`) are written as they
/// write themselves.
package enum CanonicalJSON {
    /// - Throws: `EncodingError` for a number that JSON does not know, and what the value throws.
    package static func encode(_ value: some Encodable) throws -> [UInt8] {
        let writer = JSONValueWriter()
        try writer.write(value)
        return writer.text.bytes
    }

    /// The JSON of a value of ours, which can always be written.
    package static func bytes(of value: some Encodable) -> [UInt8] {
        guard let bytes = try? encode(value) else {
            preconditionFailure("our own values can always be written as JSON")
        }
        return bytes
    }
}

/// An encoder that writes each value as it comes, one inside the other.
private final class JSONValueWriter: Encoder {
    /// What the value under way has turned out to be.
    enum Shape {
        case single
        /// The members' names and the places where they begin.
        case object([(name: String, start: Int)])
        case array(Int)
    }

    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    fileprivate(set) var text = TextBytes(capacity: 256)
    private var shape = Shape.single

    func write(_ value: some Encodable) throws {
        let outer = shape
        shape = .single
        try value.encode(to: self)
        switch shape {
        case .single: break
        case .object(let members): close(members)
        case .array: text.add(UInt8(ascii: "]"))
        }
        shape = outer
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        // A value may write another's members among its own.
        if case .object = shape {
        } else {
            text.add(UInt8(ascii: "{"))
            shape = .object([])
        }
        return KeyedEncodingContainer(Members<Key>(writer: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        text.add(UInt8(ascii: "["))
        shape = .array(0)
        return Elements(writer: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { Single(writer: self) }

    func beginMember(_ name: String) {
        guard case .object(var members) = shape else { return }
        shape = .single  // For the moment: so that the members are not copied.
        if !members.isEmpty { text.add(UInt8(ascii: ",")) }
        members.append((name, text.bytes.count))
        text.add(json: name)
        text.add(UInt8(ascii: ":"))
        shape = .object(members)
    }

    var elementCount: Int { if case .array(let count) = shape { count } else { 0 } }

    func beginElement() {
        if elementCount > 0 { text.add(UInt8(ascii: ",")) }
        shape = .array(elementCount + 1)
    }

    /// Most types name their members in the order of the alphabet; those of others are moved.
    private func close(_ members: [(name: String, start: Int)]) {
        let isSorted = zip(members, members.dropFirst()).allSatisfy { $0.name < $1.name }
        if !isSorted, let first = members.first {
            let ends = members.dropFirst().map { $0.start - 1 } + [text.bytes.count]
            let written = zip(members, ends).sorted { $0.0.name < $1.0.name }
                .map { Array(text.bytes[$0.start..<$1]) }
            text.replace(from: first.start, with: Array(written.joined(separator: [0x2C])))
        }
        text.add(UInt8(ascii: "}"))
    }

    private struct Members<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let writer: JSONValueWriter
        let codingPath: [any CodingKey] = []

        func encodeNil(forKey key: Key) {
            writer.beginMember(key.stringValue)
            writer.text.add("null")
        }

        func encode(_ value: some Encodable, forKey key: Key) throws {
            writer.beginMember(key.stringValue)
            try writer.write(value)
        }

        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type,
            forKey key: Key
        ) -> KeyedEncodingContainer<Nested> { preconditionFailure("a member is one value") }

        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
            preconditionFailure("a member is one value")
        }

        func superEncoder() -> any Encoder { writer }
        func superEncoder(forKey key: Key) -> any Encoder { writer }
    }

    private struct Elements: UnkeyedEncodingContainer {
        let writer: JSONValueWriter
        let codingPath: [any CodingKey] = []
        var count: Int { writer.elementCount }

        func encodeNil() {
            writer.beginElement()
            writer.text.add("null")
        }

        func encode(_ value: some Encodable) throws {
            writer.beginElement()
            try writer.write(value)
        }

        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type
        ) -> KeyedEncodingContainer<Nested> { preconditionFailure("an element is one value") }

        func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
            preconditionFailure("an element is one value")
        }

        func superEncoder() -> any Encoder { writer }
    }

    private struct Single: SingleValueEncodingContainer {
        let writer: JSONValueWriter
        let codingPath: [any CodingKey] = []

        func encodeNil() { writer.text.add("null") }
        func encode(_ value: Bool) { writer.text.add(value ? "true" : "false") }
        func encode(_ value: String) { writer.text.add(json: value) }
        func encode(_ value: Int) { writer.text.add(value) }
        func encode(_ value: Int8) { add(value) }
        func encode(_ value: Int16) { add(value) }
        func encode(_ value: Int32) { add(value) }
        func encode(_ value: Int64) { writer.text.add(Int(value)) }
        func encode(_ value: UInt) { add(value) }
        func encode(_ value: UInt8) { add(value) }
        func encode(_ value: UInt16) { add(value) }
        func encode(_ value: UInt32) { add(value) }
        func encode(_ value: UInt64) { add(value) }
        func encode(_ value: Float) throws { try add(value) }
        func encode(_ value: Double) throws { try add(value) }
        func encode(_ value: some Encodable) throws { try writer.write(value) }

        private func add(_ integer: some BinaryInteger) { writer.text.add("\(integer)") }

        private func add(_ number: some BinaryFloatingPoint & Encodable) throws {
            guard number.isFinite else {
                throw EncodingError.invalidValue(
                    number,
                    .init(codingPath: [], debugDescription: "JSON knows no such number.")
                )
            }
            let digits = "\(number)"
            writer.text.add(digits.hasSuffix(".0") ? String(digits.dropLast(2)) : digits)
        }
    }
}
