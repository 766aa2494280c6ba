package import GotchuCore

/// The members of a request's body. A member is removed when it is read. `rejectUnreadMembers`
/// refuses the request if any is left.
package struct JSONFields {
    private var members: [String: JSONValue]

    private init?(object value: JSONValue) {
        guard case .object(let members) = value else { return nil }
        self.members = members
    }

    package init(_ bytes: [UInt8]) throws(Problem) {
        do {
            members = try JSONReader.object(bytes)
        } catch {
            guard error.isText else {
                throw .invalid(
                    "The body must be one JSON object that names no member twice: it stops being "
                        + "that at byte \(error.offset)."
                )
            }
            throw .invalid(
                "Names of members are ASCII, and no text has more than \(String.markLimit) "
                    + "combining marks in a row: the body breaks that at byte \(error.offset)."
            )
        }
    }

    /// Removes and returns a member unchanged; `nil` if it is absent.
    package mutating func value(_ name: String) -> JSONValue? {
        members.removeValue(forKey: name)
    }

    /// Reads a string of at most `limit` ASCII characters, such as an id or a choice; `nil` if it
    /// is absent or `null`.
    package mutating func string(
        _ name: String,
        limit: Int = 1_024
    ) throws(Problem) -> String? {
        try member(name, "a string of at most \(limit) ASCII characters") { value in
            value.text.flatMap { $0.utf8.count <= limit && $0.isASCII ? $0 : nil }
        }
    }

    /// Reads a whole number; `nil` if it is absent. `50.0` and `5e1` are not whole numbers, and
    /// neither is `null`: an absent amount may mean all that is left, which a client that lost the
    /// amount must not request.
    package mutating func integer(_ name: String) throws(Problem) -> Int64? {
        guard let given = members.removeValue(forKey: name) else { return nil }
        guard let number = given.integerValue else {
            throw .invalid(
                "\(name) must be a whole number of 64 bits, without point or exponent."
            )
        }
        return number
    }

    /// Reads a list of whole numbers; `nil` if it is absent or `null`.
    ///
    /// - Parameter limit: The maximum number of elements.
    package mutating func integers(_ name: String, limit: Int) throws(Problem) -> [Int64]? {
        let form = "a list of at most \(limit) whole numbers"
        let values = try member(name, form) { $0.elements(limit) }
        return try values?.map { (value) throws(Problem) in
            guard let integer = value.integerValue else {
                throw .invalid(
                    "\(name) must be a list of whole numbers, without point or exponent."
                )
            }
            return integer
        }
    }

    /// Reads an object; `nil` if it is absent or `null`.
    package mutating func object(_ name: String) throws(Problem) -> JSONFields? {
        try member(name, "an object") { JSONFields(object: $0) }
    }

    /// Reads a Boolean; `nil` if it is absent or `null`.
    package mutating func boolean(_ name: String) throws(Problem) -> Bool? {
        try member(name, "true or false") { value -> Bool? in
            if case .boolean(let isTrue) = value { isTrue } else { nil }
        }
    }

    /// Reads an array of at most `limit` objects; `nil` if it is absent or `null`. Each object is
    /// then read like a body.
    package mutating func objects(
        _ name: String,
        limit: Int
    ) throws(Problem) -> [JSONFields]? {
        try member(name, "an array of at most \(limit) objects") { value -> [JSONFields]? in
            guard let elements = value.elements(limit) else { return nil }
            let objects = elements.compactMap { JSONFields(object: $0) }
            return objects.count == elements.count ? objects : nil
        }
    }

    /// Reads a string of at most `limit` Unicode scalars; `nil` if it is absent or `null`. Control
    /// characters and bidirectional controls are refused. The text is shown beside the amount, and
    /// they could change how the amount looks.
    package mutating func shortText(_ name: String, limit: Int) throws(Problem) -> String? {
        guard let text = try member(name, "a string", { $0.text }) else { return nil }
        // Scalars are counted, because one `Character` may have any number of them. A scalar has at
        // most four bytes.
        let scalars = text.unicodeScalars
        guard text.utf8.count <= 4 * limit, scalars.count <= limit,
            !scalars.contains(where: \.controlsText)
        else {
            throw .invalid("\(name) may have at most \(limit) characters, none of them control.")
        }
        return text
    }

    package mutating func sessionID(_ name: String) throws(Problem) -> SessionID {
        guard let text = try string(name), let id = SessionID(rawValue: text) else {
            throw .invalid("\(name) must be the name of a session.")
        }
        return id
    }

    /// Reads an EID; `nil` if it is absent or `null`.
    package mutating func eid(_ name: String) throws(Problem) -> EID? {
        try parsed(name, "10 hex characters") { EID($0) }
    }

    /// Reads a currency; `nil` if it is absent or `null`.
    package mutating func currency(_ name: String) throws(Problem) -> Currency? {
        try parsed(name, "a known ISO 4217 code in lower case") { Currency(rawValue: $0) }
    }

    /// Reads a string and parses it; `nil` if it is absent or `null`.
    ///
    /// - Parameter form: The required format, for people.
    package mutating func parsed<Value>(
        _ name: String,
        _ form: String,
        _ parse: (String) -> Value?
    ) throws(Problem) -> Value? {
        guard let text = try string(name) else { return nil }
        guard let value = parse(text) else { throw .invalid("\(name) must be \(form).") }
        return value
    }

    package mutating func requiredInteger(_ name: String) throws(Problem) -> Int64 {
        guard let value = try integer(name) else { throw .invalid("\(name) is missing.") }
        return value
    }

    /// Reads a member; `nil` if it is absent or `null`.
    private mutating func member<Value>(
        _ name: String,
        _ form: String,
        _ read: (JSONValue) -> Value?
    ) throws(Problem) -> Value? {
        guard let given = members.removeValue(forKey: name), given != .null else { return nil }
        guard let value = read(given) else { throw .invalid("\(name) must be \(form).") }
        return value
    }

    /// Refuses members that were not read. A call may move money, so a misspelt member must not be
    /// ignored.
    package consuming func rejectUnreadMembers() throws(Problem) {
        guard let name = members.keys.min() else { return }
        throw .invalid("The body has a member that this call does not know: \(name.prefix(64)).")
    }
}

extension JSONValue {
    /// Returns the elements of an array. Returns `nil` if the array has more than `limit`, or for
    /// any other value.
    fileprivate func elements(_ limit: Int) -> [JSONValue]? {
        if case .array(let elements) = self, elements.count <= limit { elements } else { nil }
    }
}

extension Problem {
    /// Creates the problem for an invalid request. A resend without a change cannot succeed.
    package static func invalid(_ detail: String) -> Problem {
        Problem(.validationError, detail: detail)
    }
}
