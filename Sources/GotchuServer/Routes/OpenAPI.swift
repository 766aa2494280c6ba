internal import Hummingbird

/// The contract as OpenAPI 3.1: this module's `openapi.yaml`, embedded by the build.
enum OpenAPI {
    static let document = ByteBuffer(bytes: PackageResources.openapi_yaml)
    /// The API of contests (`contests.yaml`), served only by a server with contests.
    static let contests = ByteBuffer(bytes: PackageResources.contests_yaml)

    /// Returns a handler that replies with a document. The replies share its bytes.
    static func handler(
        of document: @autoclosure @escaping @Sendable () -> ByteBuffer
    ) -> WebGate.Handler {
        { _, _ in
            Response(
                status: .ok,
                headers: [.contentType: "application/yaml"],
                body: ResponseBody(byteBuffer: document())
            )
        }
    }
}
