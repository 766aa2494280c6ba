package import GotchuCore

/// The members of a request's body, taken one by one; unknown ones are refused at the end.
package struct JSONFields {
    private var members: [String: JSONValue]

    private init(members: [String: JSONValue]) {
        self.members = members
    }

    package init(_ bytes: [UInt8]) throws(Problem) {
        do {
            members = try JSONReader.object(bytes)
        } catch {
            throw .invalid(
                "The body must be one JSON object that names no member twice: it stops being that "
                    + "at byte \(error.offset)."
            )
        }
    }

    /// Takes a member as it is; `nil` if it is absent.
    package mutating func value(_ name: String) -> JSONValue? {
        members.removeValue(forKey: name)
    }

    /// A string, or `nil` if it is absent or `null`.
    package mutating func string(_ name: String) throws(Problem) -> String? {
        switch members.removeValue(forKey: name) {
        case nil, .null: return nil
        case .string(let text): return text
        case .boolean, .integer, .otherNumber, .array, .object:
            throw .invalid("\(name) must be a string.")
        }
    }

    /// A whole number, or `nil` if it is absent or `null`. `50.0` and `5e1` are not whole numbers.
    package mutating func integer(_ name: String) throws(Problem) -> Int64? {
        switch members.removeValue(forKey: name) {
        case nil, .null: return nil
        case .integer(let value): return value
        case .boolean, .string, .otherNumber, .array, .object:
            throw .invalid(
                "\(name) must be a whole number of 64 bits, without point or exponent."
            )
        }
    }

    /// A list of whole numbers, or `nil` if it is absent or `null`.
    ///
    /// - Parameter limit: The largest number of them.
    package mutating func integers(_ name: String, limit: Int) throws(Problem) -> [Int64]? {
        let value = members.removeValue(forKey: name)
        if value == nil || value == .null { return nil }
        guard case .array(let values) = value, values.count <= limit else {
            throw .invalid("\(name) must be a list of at most \(limit) whole numbers.")
        }
        return try values.map { (value) throws(Problem) in
            guard case .integer(let integer) = value else {
                throw .invalid(
                    "\(name) must be a list of whole numbers, without point or exponent."
                )
            }
            return integer
        }
    }

    /// The members of an object, or `nil` if it is absent or `null`.
    package mutating func object(_ name: String) throws(Problem) -> JSONFields? {
        switch members.removeValue(forKey: name) {
        case nil, .null: return nil
        case .object(let members): return JSONFields(members: members)
        case .boolean, .string, .integer, .otherNumber, .array:
            throw .invalid("\(name) must be an object.")
        }
    }

    /// True or false, or `nil` if it is absent or `null`.
    package mutating func boolean(_ name: String) throws(Problem) -> Bool? {
        switch members.removeValue(forKey: name) {
        case nil, .null: return nil
        case .boolean(let value): return value
        case .string, .integer, .otherNumber, .array, .object:
            throw .invalid("\(name) must be true or false.")
        }
    }

    /// The objects of an array, each to be taken apart like a body, or `nil` if it is absent or
    /// `null`.
    package mutating func objects(
        _ name: String,
        limit: Int
    ) throws(Problem) -> [JSONFields]? {
        let wrong = Problem.invalid("\(name) must be an array of at most \(limit) objects.")
        switch members.removeValue(forKey: name) {
        case nil, .null: return nil
        case .array(let elements):
            guard elements.count <= limit else { throw wrong }
            var objects: [JSONFields] = []
            for element in elements {
                guard case .object(let members) = element else { throw wrong }
                objects.append(JSONFields(members: members))
            }
            return objects
        case .boolean, .integer, .otherNumber, .string, .object: throw wrong
        }
    }

    /// Takes a string of at most `limit` characters of Unicode, without control characters and
    /// bidirectional controls: a payer sees it beside the amount, which could be made to look like
    /// another.
    package mutating func shortText(_ name: String, limit: Int) throws(Problem) -> String? {
        guard let text = try string(name) else { return nil }
        // Counted in scalars: one `Character` may have any number of accents.
        let scalars = text.unicodeScalars
        guard scalars.count <= limit,
            !scalars.contains(where: {
                $0.properties.generalCategory == .control || Self.isTurning($0)
            })
        else {
            throw .invalid("\(name) may have at most \(limit) characters, none of them control.")
        }
        return text
    }

    /// Returns true for embeddings, overrides and isolates (UAX #9, 2); the marks for a single
    /// position are allowed.
    private static func isTurning(_ scalar: Unicode.Scalar) -> Bool {
        (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
    }

    /// Takes a session's id, which must be present.
    package mutating func sessionID(_ name: String) throws(Problem) -> SessionID {
        guard let text = try string(name), let id = SessionID(rawValue: text) else {
            throw .invalid("\(name) must be the name of a session.")
        }
        return id
    }

    /// An EID, or `nil` if it is absent or `null`.
    package mutating func eid(_ name: String) throws(Problem) -> EID? {
        guard let text = try string(name) else { return nil }
        guard let eid = EID(text) else { throw .invalid("\(name) must be 10 hex characters.") }
        return eid
    }

    /// Takes a whole number, which must be present.
    package mutating func requiredInteger(_ name: String) throws(Problem) -> Int64 {
        guard let value = try integer(name) else { throw .invalid("\(name) is missing.") }
        return value
    }

    /// Refuses members that were not taken: a misspelt member must not be ignored where money is
    /// concerned.
    package consuming func end() throws(Problem) {
        guard let name = members.keys.sorted().first else { return }
        throw .invalid("The body has a member that this call does not know: \(name.prefix(64)).")
    }
}

extension Problem {
    /// Makes the problem for a request that can never succeed unchanged.
    package static func invalid(_ detail: String) -> Problem {
        Problem(.validationError, detail: detail)
    }
}
