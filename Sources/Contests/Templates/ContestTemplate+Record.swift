package import FoundationEssentials
package import GotchuCore
package import Ledger

/// The stored form and the file format of templates.
extension ContestTemplate {
    /// The maximum size of a new template, in bytes: a contest's detail repeats the template, and
    /// must stay within the size that gotchud forwards.
    private static let sizeLimit = 256 * 1024

    /// An error that is thrown if a template cannot be read or is invalid.
    package struct Malformed: Error, Equatable {
        /// A sentence for the template's author.
        package let reason: String
    }

    /// Reads a template's file.
    ///
    /// - Parameter image: Reads an image from the file's folder; `nil` if it cannot be read.
    /// - Throws: `Malformed`, for an unknown member too: a misspelt rule must not be ignored
    ///   silently.
    package init(
        file bytes: [UInt8],
        image read: (String) -> Data? = { _ in nil }
    ) throws(Malformed) {
        let (template, _) = try Self.read(file: bytes, image: read)
        self = template
    }

    /// Reads a template's file and the image that it refers to.
    ///
    /// - Throws: As `init(file:image:)`, and for an image that is not valid.
    package static func read(
        file bytes: [UInt8],
        image read: (String) -> Data?
    ) throws(Malformed) -> (template: ContestTemplate, image: TemplateImage?) {
        var template = try ContestTemplate(decoding: bytes)
        var image: TemplateImage?
        if let name = template.heroImage, !isAddress(name) {
            image = name.contains("/") ? nil : read(name).flatMap { TemplateImage($0) }
            guard let image else {
                throw Malformed(
                    reason: "heroImage must be an address, or the name of a PNG, a JPEG or an SVG "
                        + "without script and links, of 256 KiB at most, in the file's folder."
                )
            }
            template.heroImage = image.path
        }
        if let violation = template.violation ?? template.creationViolation {
            throw Malformed(reason: violation)
        }
        return (template, image)
    }

    /// The reason why it cannot be added; `nil` if it can. These rules are newer than some stored
    /// templates: only new templates are checked.
    private var creationViolation: String? {
        guard CanonicalJSON.bytes(of: self).count <= Self.sizeLimit else {
            return "the template must have at most \(Self.sizeLimit / 1024) KiB."
        }
        let values = Set(valueColumns.map(\.key))
        guard scoring.tieBreaks.allSatisfy({ values.contains($0.key) }) else {
            return "each tie-break must be a column that shows its value."
        }
        guard scoring.by == .entry || scoring.wins == .high else {
            return "wins must be high with roster_sum: players without points would win."
        }
        guard !sections.contains(where: { $0.type == "history" }) else {
            return "history is a section that contests have by themselves."
        }
        return nil
    }

    private init(decoding bytes: [UInt8]) throws(Malformed) {
        do {
            let written = try JSONReader.object(bytes)
            self = try JSONDecoder().decode(Self.self, from: Data(bytes))
            let known = try JSONReader.object(CanonicalJSON.bytes(of: self))
            if let name = Self.unknown(in: .object(written), beside: .object(known)) {
                throw Malformed(reason: "The member \(name) is not known here.")
            }
        } catch let malformed as JSONReader.Malformed {
            throw Malformed(
                reason: "The file must be one JSON object that names no member twice: it stops "
                    + "being that at byte \(malformed.offset)."
            )
        } catch let malformed as Malformed {
            throw malformed
        } catch let error as DecodingError {
            throw Malformed(reason: error.memberSentence)
        } catch {
            throw Malformed(reason: "A member is missing or has a wrong value.")
        }
    }

    /// Returns the first member of a JSON value that is missing from its decoded form.
    private static func unknown(in written: JSONValue, beside known: JSONValue) -> String? {
        switch (written, known) {
        case (.object(let written), .object(let known)):
            for (name, value) in written.sorted(by: { $0.key < $1.key }) where value != .null {
                guard let other = known[name] else { return name }
                if let name = unknown(in: value, beside: other) { return name }
            }
            return nil
        case (.array(let written), .array(let known)):
            return zip(written, known).lazy.compactMap { unknown(in: $0, beside: $1) }.first
        default: return nil
        }
    }

    /// - Throws: `LedgerError` with `corrupt` if the record is not a valid template.
    package init(_ record: Record) throws(LedgerError) {
        guard record.kind == Self.kind else { throw .corrupt("a template") }
        self = try decoded(from: record.body)
        guard violation == nil, id == record.id.rawValue else { throw .corrupt("a template") }
    }
}

extension DecodingError {
    /// A sentence for the template's author: which member is missing or has a wrong value.
    fileprivate var memberSentence: String {
        if case .keyNotFound(let key, let context) = self {
            let place = Self.name(context.codingPath)
            return "The member \(key.stringValue) is missing"
                + (place.isEmpty ? "." : " in \(place).")
        }
        var path: [any CodingKey] = []
        var problem = "has a value of the wrong type"
        if case .typeMismatch(_, let context) = self { path = context.codingPath }
        if case .valueNotFound(_, let context) = self {
            (path, problem) = (context.codingPath, "has no value")
        }
        if case .dataCorrupted(let context) = self {
            (path, problem) = (context.codingPath, "has a value that is not known here")
        }
        let name = Self.name(path)
        return name.isEmpty
            ? "A member is missing or has a wrong value." : "The member \(name) \(problem)."
    }

    /// Returns a member's name with those around it: `columns[2].key`.
    private static func name(_ path: [any CodingKey]) -> String {
        path.reduce(into: "") { name, key in
            if let index = key.intValue {
                name += "[\(index)]"
            } else {
                name += (name.isEmpty ? "" : ".") + key.stringValue
            }
        }
    }
}

/// Adds a template, for the server's operator.
package struct AddTemplate: LedgerCommand {
    package static let name = "add-template"
    /// The login of the user who owns the templates. No email address or OpenID login equals it.
    package static let ownerLogin = "contest-templates"

    private let template: ContestTemplate
    private let image: TemplateImage?
    private let owner: UserID

    /// - Precondition: The template has no violation.
    package init(_ template: ContestTemplate, image: TemplateImage? = nil, owner: UserID) {
        precondition(template.violation == nil)
        self.template = template
        self.image = image
        self.owner = owner
    }

    package func touch(_ footprint: inout Footprint, knowing rows: Snapshot?) {
        footprint.records.insert(RecordID(trusted: template.id))
        if let image { footprint.records.insert(TemplateImage.record(image.name)) }
    }

    /// - Returns: False if a different record has the id.
    package func decide(on books: inout Books, at time: Timestamp) throws(Refusal) -> Bool {
        let id = RecordID(trusted: template.id)
        let record = Record(immutable: ContestTemplate.kind, id, of: owner, at: time, template)
        if let known = books.rows.records[id] {
            return known.kind == record.kind && known.body == record.body
        }
        if let image, books.rows.records[TemplateImage.record(image.name)] == nil {
            books.put(image.record(of: owner, at: time))
        }
        books.put(record)
        return true
    }
}
