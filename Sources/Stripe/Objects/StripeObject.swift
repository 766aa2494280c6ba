import FoundationEssentials
package import GotchuCore

/// An object of Stripe's API, with the members that we read.
package protocol StripeObject: Decodable, Sendable {
    /// The value of its member `object`.
    static var kind: String { get }
}

/// A page of a list.
package struct StripeList<Element: StripeObject>: StripeObject {
    package static var kind: String { "list" }

    package let data: [Element]
    package let hasMore: Bool

    enum CodingKeys: String, CodingKey {
        case data
        case hasMore = "has_more"
    }
}

/// A member that is an object's id or, if requested, the object.
package enum Expandable<Object: StripeObject & Identified>: Decodable, Sendable {
    case id(String)
    case object(Object)

    package init(from decoder: any Decoder) throws {
        if let id = try? decoder.singleValueContainer().decode(String.self) {
            self = .id(id)
        } else {
            self = .object(try Object(from: decoder))
        }
    }

    /// The object's id, whether or not it was expanded.
    package var id: String {
        switch self {
        case .id(let id): id
        case .object(let object): object.id
        }
    }

    /// The object; `nil` if only its id was sent.
    package var object: Object? {
        switch self {
        case .id: nil
        case .object(let object): object
        }
    }
}

package protocol Identified {
    var id: String { get }
}

/// An object of any kind, of which only the id is read.
package struct AnyStripeObject: StripeObject, Identified {
    package static let kind = ""

    package let id: String
}

/// A state as Stripe names it. A state that this release does not know is `unknown`, and causes no
/// action.
package protocol StripeEnum: RawRepresentable, Decodable, Sendable where RawValue == String {
    static var unknown: Self { get }
}

extension StripeEnum {
    package init(from decoder: any Decoder) throws {
        let word = try decoder.singleValueContainer().decode(String.self)
        self = Self(rawValue: word) ?? .unknown
    }
}

/// A Unix time in whole seconds.
@propertyWrapper
package struct UnixTime: Decodable, Sendable {
    package let wrappedValue: Timestamp

    package init(wrappedValue: Timestamp) { self.wrappedValue = wrappedValue }

    package init(from decoder: any Decoder) throws {
        let seconds = try decoder.singleValueContainer().decode(Int64.self)
        // The end of the year 9999; a much larger value would overflow when multiplied.
        guard (0...253_402_300_799).contains(seconds) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "no time")
            )
        }
        wrappedValue = Timestamp(milliseconds: seconds * 1_000)
    }
}

/// The names and values that an object stores for us; empty if it has no such member.
@propertyWrapper
package struct Metadata: Decodable, Sendable {
    package let wrappedValue: [String: String]

    fileprivate init(_ members: [String: String]) { wrappedValue = members }

    package init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode([String: String].self))
    }
}

extension KeyedDecodingContainer {
    func metadata(_ key: Key) throws -> [String: String] {
        try decodeIfPresent([String: String].self, forKey: key) ?? [:]
    }

    /// Decodes a member that may be missing: synthesized initializers call this overload.
    func decode(_: Metadata.Type, forKey key: Key) throws -> Metadata {
        Metadata(try metadata(key))
    }
}
