import BusTestSupport
import CDBus
import TestSupport
import Testing

@testable import DBus

@Suite struct MarshalFuzzTests {
    @Test("Random bytes do not crash the decoder, and decoded values can be encoded again")
    func fuzz() throws {
        var random = SeededGenerator("marshalled bytes")
        let seeds = try ValueTests.values.map { try Self.marshal([$0, .string("and"), $0]) }
        var accepted = 0
        for round in 0..<100_000 {
            guard var bytes = seeds.randomElement(using: &random) else { return }
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                bytes[index] = UInt8.random(in: 0...255, using: &random)
            }
            if round % 10 == 0 {
                bytes = (0..<Int.random(in: 0...200, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
            }
            guard let values = Self.demarshal(bytes) else { continue }
            accepted += 1
            let again = try Self.marshal(values)
            let back = try #require(Self.demarshal(again), "seed \(random.seed)")
            // NaN does not equal itself, so the encoded bytes are compared instead of the values.
            #expect(try Self.marshal(back) == again, "seed \(random.seed)")
        }
        #expect(accepted > 10_000, "seed \(random.seed): too few are valid")
    }

    @Test("Random values of many shapes are decoded as they were encoded")
    func identity() throws {
        var random = SeededGenerator("values of every shape")
        for _ in 0..<5_000 {
            let value = Self.value(depth: 0, &random)
            let bytes = try Self.marshal([value])
            #expect(Self.demarshal(bytes) == [value], "seed \(random.seed)")
        }
    }

    private static func value(depth: Int, _ random: inout SeededGenerator) -> Value {
        let kind = Int.random(in: 0..<(depth > 5 ? 6 : 10), using: &random)
        let inner = { (random: inout SeededGenerator) in value(depth: depth + 1, &random) }
        switch kind {
        case 0: return .byte(.random(in: 0...255, using: &random))
        case 1: return .int64(.random(in: .min ... .max, using: &random))
        case 2: return .double(Double(Int.random(in: -9...9, using: &random)) / 4)
        case 3: return .string(String(repeating: "é", count: Int.random(in: 0...9, using: &random)))
        case 4: return .bytes(Array(repeating: 7, count: Int.random(in: 0...9, using: &random)))
        case 5: return .boolean(.random(using: &random))
        case 6: return .variant(inner(&random))
        case 7:
            return .structure(
                [inner(&random), inner(&random)].prefix(depth > 2 ? 1 : 2).map { $0 }
            )
        case 8:
            let element = Value.variant(inner(&random))
            return .array(
                Array(repeating: element, count: Int.random(in: 0...3, using: &random)),
                of: .variant
            )
        default:
            return .properties(["a": inner(&random), "b": inner(&random)])
        }
    }

    private static func marshal(_ values: [Value]) throws -> [UInt8] {
        let message = try Message.call(.bus("C", values))
        dbus_message_set_serial(message.raw, 1)
        var start: UnsafeMutablePointer<CChar>?
        var count: Int32 = 0
        guard dbus_message_marshal(message.raw, &start, &count) != 0, let start else {
            throw DBus.DBusError.outOfMemory
        }
        defer { dbus_free(start) }
        return UnsafeBufferPointer(start: start, count: Int(count)).map(UInt8.init(bitPattern:))
    }

    private static func demarshal(_ bytes: [UInt8]) -> [Value]? {
        let raw = bytes.withUnsafeBufferPointer { buffer in
            buffer.withMemoryRebound(to: CChar.self) { characters in
                dbus_message_demarshal(characters.baseAddress, Int32(characters.count), nil)
            }
        }
        guard let raw else { return nil }
        return try? Message(adopting: raw).values()
    }
}
