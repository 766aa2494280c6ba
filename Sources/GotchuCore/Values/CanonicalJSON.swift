/// An encoder of JSON (RFC 8259). Members are sorted by name, spaces are left out, and slashes are
/// not escaped. The same value always gives the same bytes.
///
/// A `JSONEncoder` writes the same but takes at least twice as long. That was a tenth of a server's
/// work for a sale. It has its own format for some types (`Date`, `Data`); here, their
/// `encode(to:)` decides. Types that encode their members in sorted order are written fastest.
package enum CanonicalJSON {
    /// - Throws: `EncodingError` for a number that JSON cannot represent, and the value's own
    ///   errors.
    package static func encode(_ value: some Encodable) throws -> [UInt8] {
        let writer = JSONValueWriter()
        try writer.write(value)
        return writer.text.bytes
    }

    /// Encodes a value of our own types, which always succeeds.
    package static func bytes(of value: some Encodable) -> [UInt8] {
        guard let bytes = try? encode(value) else {
            preconditionFailure("our own values can always be written as JSON")
        }
        return bytes
    }
}

/// An encoder that writes values directly in the order in which they are encoded.
///
/// The exclusivity checks are turned off: they would take a fifth of the time. They are not needed,
/// because one thread uses it and no method passes its state to others.
private final class JSONValueWriter: Encoder {
    private enum Frame {
        /// A value that has not opened a container.
        case single
        /// An object with the members from this index on.
        case object(Int)
        /// An array with this many elements.
        case array(Int)
    }

    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    @exclusivity(unchecked) fileprivate var text = TextBuilder(capacity: 512)
    /// The open containers, the innermost last.
    @exclusivity(unchecked) private var frames: [Frame] = []
    /// The members of all open objects, with the positions at which they begin.
    @exclusivity(unchecked) private var members: [(name: String, start: Int)] = []
    /// The index of the frame of the value that is being encoded.
    @exclusivity(unchecked) private var value = 0

    init() {
        frames.reserveCapacity(8)
        members.reserveCapacity(32)
    }

    func write(_ inner: some Encodable) throws {
        let outer = value
        value = frames.count
        frames.append(.single)
        try inner.encode(to: self)
        end(downTo: value)
        value = outer
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        end(downTo: value + 1)
        // A value may request its container again to add another value's members to its own.
        if case .single = frames[value] {
            frames.removeLast()
            beginObject()
        }
        return KeyedEncodingContainer(Members<Key>(writer: self, frame: value))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        frames.removeLast()
        beginArray()
        return Elements(writer: self, frame: value)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { Single(writer: self) }

    private func beginObject() {
        text.add(UInt8(ascii: "{"))
        frames.append(.object(members.count))
    }

    private func beginArray() {
        text.add(UInt8(ascii: "["))
        frames.append(.array(0))
    }

    private func beginMember(_ name: String, of frame: Int) {
        end(downTo: frame + 1)
        if case .object(let first) = frames[frame], members.count > first {
            text.add(UInt8(ascii: ","))
        }
        members.append((name, text.bytes.count))
        text.add(json: name)
        text.add(UInt8(ascii: ":"))
    }

    private func beginElement(of frame: Int) {
        end(downTo: frame + 1)
        let count = elementCount(of: frame)
        if count > 0 { text.add(UInt8(ascii: ",")) }
        frames[frame] = .array(count + 1)
    }

    private func elementCount(of frame: Int) -> Int {
        if case .array(let count) = frames[frame] { count } else { 0 }
    }

    /// Ends frames until there are `count`.
    private func end(downTo count: Int) {
        while frames.count > count {
            switch frames.removeLast() {
            case .single: break
            case .object(let first): endObject(first)
            case .array: text.add(UInt8(ascii: "]"))
            }
        }
    }

    private func endObject(_ first: Int) {
        let isOrdered = members.indices.dropFirst(first + 1).allSatisfy {
            members[$0 - 1].name < members[$0].name
        }
        if !isOrdered { sort(members[first...]) }
        members.removeLast(members.count - first)
        text.add(UInt8(ascii: "}"))
    }

    private func sort(_ members: ArraySlice<(name: String, start: Int)>) {
        let ends = members.dropFirst().map { $0.start - 1 } + [text.bytes.count]
        let written = zip(members, ends).sorted { $0.0.name < $1.0.name }
            .map { Array(text.bytes[$0.start..<$1]) }
        let start = members[members.startIndex].start
        text.replace(from: start, with: Array(written.joined(separator: [UInt8(ascii: ",")])))
    }

    private struct Members<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let writer: JSONValueWriter
        let frame: Int
        let codingPath: [any CodingKey] = []

        func encodeNil(forKey key: Key) {
            writer.beginMember(key.stringValue, of: frame)
            writer.text.add("null")
        }

        func encode(_ value: some Encodable, forKey key: Key) throws {
            writer.beginMember(key.stringValue, of: frame)
            try writer.write(value)
        }

        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type,
            forKey key: Key
        ) -> KeyedEncodingContainer<Nested> {
            writer.beginMember(key.stringValue, of: frame)
            writer.beginObject()
            return KeyedEncodingContainer(
                Members<Nested>(writer: writer, frame: writer.frames.count - 1)
            )
        }

        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
            writer.beginMember(key.stringValue, of: frame)
            writer.beginArray()
            return Elements(writer: writer, frame: writer.frames.count - 1)
        }

        func superEncoder() -> any Encoder { preconditionFailure("no class of ours is written") }
        func superEncoder(forKey key: Key) -> any Encoder { superEncoder() }
    }

    private struct Elements: UnkeyedEncodingContainer {
        let writer: JSONValueWriter
        let frame: Int
        let codingPath: [any CodingKey] = []
        var count: Int { writer.elementCount(of: frame) }

        func encodeNil() {
            writer.beginElement(of: frame)
            writer.text.add("null")
        }

        func encode(_ value: some Encodable) throws {
            writer.beginElement(of: frame)
            try writer.write(value)
        }

        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type
        ) -> KeyedEncodingContainer<Nested> {
            writer.beginElement(of: frame)
            writer.beginObject()
            return KeyedEncodingContainer(
                Members<Nested>(writer: writer, frame: writer.frames.count - 1)
            )
        }

        func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
            writer.beginElement(of: frame)
            writer.beginArray()
            return Elements(writer: writer, frame: writer.frames.count - 1)
        }

        func superEncoder() -> any Encoder { preconditionFailure("no class of ours is written") }
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
