import HTTPTypes
import HummingbirdCore
import NIOCore
import Pages

extension Response {
    /// Creates a page's reply. The server adds the headers of its policy.
    static func page(_ html: HTML, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status,
            headers: [.contentType: "text/html; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: html.source))
        )
    }

    static func asset(_ asset: Asset) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: asset.type, .cacheControl: Asset.caching],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: asset.bytes))
        )
    }
}
