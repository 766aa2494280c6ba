internal import Hummingbird

/// The contract as OpenAPI 3.1: this module's `openapi.yaml`, embedded by the build.
enum OpenAPI {
    static let document = String(decoding: PackageResources.openapi_yaml, as: UTF8.self)
    /// The API of contests (`contests.yaml`), served only by a server with contests.
    static let contests = String(decoding: PackageResources.contests_yaml, as: UTF8.self)

    /// Returns a handler that replies with a document.
    static func handler(
        of document: @autoclosure @escaping @Sendable () -> String
    ) -> WebGate.Handler {
        { _, _ in
            Response(
                status: .ok,
                headers: [.contentType: "application/yaml"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: document()))
            )
        }
    }
}
