import Testing

@testable import GotchuAPI

extension WireReply {
    /// Checks that the reply is a problem with a code, and has the members and headers of every
    /// problem.
    func expectProblem(
        _ expected: ErrorCode,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(code == expected.rawValue, "\(text)", sourceLocation: sourceLocation)
        #expect(status == expected.httpStatus, sourceLocation: sourceLocation)
        #expect(
            headers["content-type"] == "application/problem+json",
            sourceLocation: sourceLocation
        )
        #expect(!string("detail").isEmpty, sourceLocation: sourceLocation)
        #expect(string("error") == string("detail"), sourceLocation: sourceLocation)
        #expect(!string("request_id").isEmpty, sourceLocation: sourceLocation)
        if status == 429 || status == 503 {
            #expect(headers["retry-after"] != nil, sourceLocation: sourceLocation)
        }
    }
}
