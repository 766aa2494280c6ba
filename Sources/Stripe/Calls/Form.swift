import GotchuCore

/// The parameters of a call, in Stripe's nested format: `a[b][0][c]=d`.
///
/// Their order is kept: the same call has the same bytes. Stripe rejects different parameters under
/// one idempotency key.
struct Form: Sendable, ExpressibleByDictionaryLiteral {
    indirect enum Value: Sendable {
        case text(String)
        case integer(Int64)
        case boolean(Bool)
        case object(Form)
        case list([Value])
    }

    private(set) var fields: [(name: String, value: Value)]

    init(_ fields: [(name: String, value: Value)] = []) {
        self.fields = fields
    }

    init(dictionaryLiteral elements: (String, Value)...) {
        fields = elements.map { ($0, $1) }
    }

    /// Creates an object from texts, sorted by name.
    init(_ texts: [String: String]) {
        fields = texts.sorted { $0.key < $1.key }.map { ($0.key, .text($0.value)) }
    }

    /// Returns the parameters with one more, unless its value is `nil`.
    func adding(_ name: String, _ value: Value?) -> Form {
        guard let value else { return self }
        return Form(fields + [(name, value)])
    }

    /// The parameters as pairs of a name with all its brackets, and a value.
    var pairs: [(name: String, value: String)] {
        fields.flatMap { field in Self.pairs(field.value, at: field.name) }
    }

    private static func pairs(_ value: Value, at name: String) -> [(name: String, value: String)] {
        switch value {
        case .text(let text): [(name, text)]
        case .integer(let integer): [(name, String(integer))]
        case .boolean(let boolean): [(name, String(boolean))]
        case .object(let form):
            form.fields.flatMap { pairs($0.value, at: "\(name)[\($0.name)]") }
        case .list(let values):
            values.enumerated().flatMap { pairs($0.element, at: "\(name)[\($0.offset)]") }
        }
    }

    /// The text of an `application/x-www-form-urlencoded` body, or of a query.
    var text: String {
        pairs.map { percentEncoded($0.name) + "=" + percentEncoded($0.value) }
            .joined(separator: "&")
    }
}

extension Form.Value: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral
{
    init(stringLiteral value: String) {
        self = .text(value)
    }

    init(integerLiteral value: Int64) {
        self = .integer(value)
    }

    init(booleanLiteral value: Bool) {
        self = .boolean(value)
    }

    init(dictionaryLiteral elements: (String, Form.Value)...) {
        self = .object(Form(elements.map { ($0, $1) }))
    }

    init(arrayLiteral elements: Form.Value...) {
        self = .list(elements)
    }
}
