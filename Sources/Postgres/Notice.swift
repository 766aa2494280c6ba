internal import CPostgres

/// A message that the server sends in addition to results (NoticeResponse).
package struct Notice: Sendable {
    /// `WARNING`, `NOTICE`, `INFO` …, never translated.
    package let severity: String
    package let state: SQLState?
    package let message: String

    var isWarning: Bool { severity == "WARNING" }

    init(_ result: OpaquePointer?) {
        func field(_ name: Unicode.Scalar) -> String? {
            PQresultErrorField(result, Int32(name.value)).map { String(cString: $0) }
        }
        severity = field("V") ?? field("S") ?? ""
        state = field("C").map { SQLState(rawValue: $0) }
        message = onOneLine(field("M") ?? "")
    }
}

/// A receiver that passes notices from libpq's callback to the owner and collects the warnings of
/// the current exchange.
final class NoticeSink {
    private let handler: (Notice) -> Void
    private(set) var warnings: [Notice] = []

    init(_ handler: @escaping (Notice) -> Void) {
        self.handler = handler
    }

    func begin() { warnings = [] }

    func receive(_ notice: Notice) {
        if notice.isWarning { warnings.append(notice) }
        handler(notice)
    }
}
