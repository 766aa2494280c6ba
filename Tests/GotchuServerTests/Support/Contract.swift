import Foundation
import GotchuCore
import NIOCore
import TestSupport
import Testing

@testable import GotchuAPI
@testable import GotchuServer

/// A description of the server's API, which validates the server's replies.
///
/// The validation is stricter than JSON Schema: undescribed members, codes that are not listed for
/// the status, and keywords that this validator does not know are errors.
struct Contract: Sendable {
    private let document: JSON

    /// Returns the description that the server serves, without the contest API.
    static func served() async throws -> Contract {
        try await Contract(yaml: String(buffer: OpenAPI.document))
    }

    /// Reads a description with PyYAML.
    init(yaml: String) async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(yaml, to: "openapi.yaml")
        let script = "import json,sys,yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1]))))"
        let read = try Program(try await Python.interpreter(), ["-c", script, file])
        #expect(try await read.exitCode() == 0, "\(read.text)")
        document = try JSONDecoder().decode(JSON.self, from: Data(read.text.utf8))
    }

    /// All codes in the description.
    var codes: Set<String> {
        Set(schema("Code")?["enum"]?.elements.compactMap(\.string) ?? [])
    }

    /// All operations by method and path, such as `POST /wallet/send`.
    var described: [String: JSON] {
        var found: [String: JSON] = [:]
        for (path, item) in value("paths").members {
            for (method, operation) in item.members {
                found["\(method.uppercased()) \(path)"] = operation
            }
        }
        return found
    }

    var operations: Set<String> { Set(described.keys) }

    /// All examples, each with the name of its schema.
    var examples: [(schema: String, example: JSON)] {
        value("components", "schemas").members.flatMap { name, schema in
            (schema["examples"]?.elements ?? []).map { (name, $0) }
        }
    }

    /// Returns the value at a path in the document; null if there is none.
    func value(_ path: String...) -> JSON {
        path.reduce(document) { $0[$1] ?? .null }
    }

    /// Returns the summary and description at a path in the document.
    func text(_ path: String...) -> String {
        let value = path.reduce(document) { $0[$1] ?? .null }
        return ["summary", "description"].compactMap { value[$0]?.string }.joined(separator: "\n")
    }

    /// The problem codes that each operation may return, by status.
    var problems: [(operation: String, status: String, codes: [String])] {
        described.flatMap { name, operation in
            let responses =
                operation["responses"]?.members.filter { $0.value["$ref"] != nil } ?? [:]
            return responses.map { status, response in
                let words = description(of: response).split { !($0.isUppercase || $0 == "_") }
                return (name, status, words.map(String.init))
            }
        }
    }

    /// Returns the ways in which a reply differs from the description; empty if there are none.
    func violations(_ method: String, _ path: String, _ reply: WireReply) -> [String] {
        guard let item = item(for: path) else {
            return reply.status == 404 ? problems(reply, "NOT_FOUND") : ["an undescribed address"]
        }
        guard let operation = item[method.lowercased()] else {
            return reply.status == 405
                ? problems(reply, "METHOD_NOT_ALLOWED") : ["an undescribed method"]
        }
        guard let described = operation["responses"]?["\(reply.status)"] else {
            return ["an undescribed status \(reply.status)"]
        }
        let response = resolved(described)
        let type = reply.headers["content-type"]?.prefix { $0 != ";" } ?? ""
        guard let content = response["content"] else {
            return reply.bytes.isEmpty ? [] : ["a body where none is described"]
        }
        guard let media = content[String(type)] else { return ["an undescribed type \(type)"] }
        if type == "application/problem+json" {
            return problems(reply, description(of: described))
        }
        guard let schema = media["schema"], type.hasSuffix("json") else { return [] }
        return body(reply, schema)
    }

    /// Returns the ways in which a JSON text differs from a named schema.
    func violations(of bytes: Data, _ name: String) -> [String] {
        guard let schema = schema(name) else { return ["an undescribed schema \(name)"] }
        guard let value = try? JSONDecoder().decode(JSON.self, from: bytes) else {
            return ["no JSON"]
        }
        return violations(of: value, schema, at: name)
    }

    /// Returns the ways in which an example differs from a named schema.
    func violations(of example: JSON, _ name: String) -> [String] {
        violations(of: example, value("components", "schemas", name), at: name)
    }

    private func problems(_ reply: WireReply, _ described: String) -> [String] {
        var found = schema("Problem").map { body(reply, $0) } ?? ["no schema Problem"]
        let code = reply.code ?? ""
        let words = described.split { !($0.isLetter || $0 == "_") }
        if !words.contains(code[...]) { found.append("the code \(code) is not described here") }
        if reply.integer("status") != Int64(reply.status) { found.append("wrong status in body") }
        if ErrorCode(rawValue: code)?.httpStatus != reply.status {
            found.append("\(code) with \(reply.status)")
        }
        return found
    }

    private func body(_ reply: WireReply, _ schema: JSON) -> [String] {
        guard let value = try? JSONDecoder().decode(JSON.self, from: reply.bytes) else {
            return ["no JSON"]
        }
        return violations(of: value, schema, at: "body")
    }

    private func item(for path: String) -> JSON? {
        let plain = path.prefix { $0 != "?" }
        let paths = document["paths"]?.members ?? [:]
        if let item = paths[String(plain)] { return item }
        let given = plain.split(separator: "/", omittingEmptySubsequences: false)
        return paths.first { template, _ in
            let parts = template.split(separator: "/", omittingEmptySubsequences: false)
            return parts.count == given.count
                && zip(parts, given).allSatisfy { $0 == $1 || ($0.hasPrefix("{") && !$1.isEmpty) }
        }?.value
    }

    private func schema(_ name: String) -> JSON? { document["components"]?["schemas"]?[name] }

    private func resolved(_ value: JSON) -> JSON {
        target(of: value).map(resolved) ?? value
    }

    /// Returns the description of a value, or else the description of the value that it refers to.
    private func description(of value: JSON) -> String {
        value["description"]?.string ?? target(of: value).map(description) ?? ""
    }

    private func target(of value: JSON) -> JSON? {
        let names = value["$ref"]?.string?.split(separator: "/").dropFirst()
        return names?.reduce(document) { $0[String($1)] ?? .null }
    }
}

extension Contract {
    private static let annotations: Set = [
        "description", "format", "example", "examples", "default", "$ref", "title",
    ]
    private static let keywords: Set = [
        "type", "enum", "const", "required", "properties", "additionalProperties", "items",
        "minItems", "maxItems", "minimum", "maximum", "minLength", "maxLength", "pattern",
    ]

    private func violations(of value: JSON, _ given: JSON, at path: String) -> [String] {
        let schema = resolved(given)
        let unknown = Set(schema.members.keys).subtracting(Self.keywords)
            .subtracting(Self.annotations)
        if !unknown.isEmpty { return ["\(path): keywords \(unknown) are not supported"] }
        if schema.members.isEmpty { return ["\(path): no schema"] }
        var found: [String] = []
        func check(_ isRight: Bool, _ what: String) {
            if !isRight { found.append("\(path): \(what)") }
        }
        if let type = schema["type"]?.string {
            check(value.type == type || (type == "number" && value.type == "integer"), type)
        }
        if let values = schema["enum"] { check(values.elements.contains(value), "enum") }
        if let constant = schema["const"] { check(constant == value, "const") }
        switch value {
        case .string(let text): found += text.violations(schema, at: path)
        case .integer(let number):
            check(number >= schema["minimum"]?.integer ?? .min, "minimum")
            check(number <= schema["maximum"]?.integer ?? .max, "maximum")
        case .number(let number):
            check(number >= schema["minimum"]?.double ?? -.infinity, "minimum")
            check(number <= schema["maximum"]?.double ?? .infinity, "maximum")
        case .array(let elements):
            check(elements.count >= schema["minItems"]?.integer ?? 0, "minItems")
            check(elements.count <= schema["maxItems"]?.integer ?? .max, "maxItems")
            // A value that may be an object or an array has no description of items.
            let isFree = schema["additionalProperties"] == .boolean(true)
            if isFree, schema["items"] == nil { break }
            for (index, element) in elements.enumerated() {
                found += violations(of: element, schema["items"] ?? .null, at: "\(path)[\(index)]")
            }
        case .object(let members):
            for name in schema["required"]?.elements.compactMap(\.string) ?? [] {
                check(members[name] != nil, "\(name) is missing")
            }
            for (name, member) in members {
                guard let described = schema["properties"]?[name] else {
                    let isFree = schema["additionalProperties"] == .boolean(true)
                    check(isFree, "\(name) is not described")
                    continue
                }
                found += violations(of: member, described, at: "\(path).\(name)")
            }
        case .null, .boolean: break
        }
        return found
    }
}

extension String {
    fileprivate func violations(_ schema: JSON, at path: String) -> [String] {
        var found: [String] = []
        let length = Int64(unicodeScalars.count)
        if length < schema["minLength"]?.integer ?? 0 { found.append("\(path): minLength") }
        if length > schema["maxLength"]?.integer ?? .max { found.append("\(path): maxLength") }
        if let pattern = schema["pattern"]?.string,
            (try? Regex(pattern)).flatMap({ try? $0.firstMatch(in: self) }) == nil
        {
            found.append("\(path): pattern")
        }
        if schema["format"]?.string == "date-time", Timestamp(iso8601: self) == nil {
            found.append("\(path): date-time")
        }
        return found
    }
}
