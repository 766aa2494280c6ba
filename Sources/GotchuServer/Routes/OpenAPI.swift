/// The contract as OpenAPI 3.1, served as it stands here.
enum OpenAPI {
    static let document = """
        openapi: 3.1.0
        """
}
