import FoundationEssentials
package import GotchuCore

/// An object of Stripe's API, as far as we read it.
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

/// A member that holds an object's id or, if asked for, the object.
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

    /// The object's id, expanded or not.
    package var id: String {
        switch self {
        case .id(let id): id
        case .object(let object): object.id
        }
    }

    /// The object; `nil` if only its id came.
    package var object: Object? {
        switch self {
        case .id: nil
        case .object(let object): object
        }
    }
}

/// An object with an id.
package protocol Identified {
    var id: String { get }
}

/// Some object, of which only the id is read.
package struct AnyStripeObject: StripeObject, Identified {
    package static let kind = ""

    package let id: String
}

/// A word of Stripe's for a state. One that this release does not know is `unknown`, which nothing
/// acts on.
package protocol StripeWord: RawRepresentable, Decodable, Sendable where RawValue == String {
    static var unknown: Self { get }
}

extension StripeWord {
    package init(from decoder: any Decoder) throws {
        let word = try decoder.singleValueContainer().decode(String.self)
        self = Self(rawValue: word) ?? .unknown
    }
}

/// A time in whole seconds.
@propertyWrapper
package struct UnixTime: Decodable, Sendable {
    package let wrappedValue: Timestamp

    package init(wrappedValue: Timestamp) { self.wrappedValue = wrappedValue }

    package init(from decoder: any Decoder) throws {
        let seconds = try decoder.singleValueContainer().decode(Int64.self)
        // Year 9999; more could not be multiplied.
        guard (0...253_402_300_799).contains(seconds) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "no time")
            )
        }
        wrappedValue = Timestamp(milliseconds: seconds * 1_000)
    }
}

/// The names and values that an object holds for us; none if it has no such member.
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

    /// Reads what may be missing, in place of the compiler's way.
    func decode(_: Metadata.Type, forKey key: Key) throws -> Metadata {
        Metadata(try metadata(key))
    }
}
