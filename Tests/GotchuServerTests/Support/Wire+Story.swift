/// The steps of a payment that most tests need.
extension Wire {
    func login(_ name: String) async throws -> String {
        try await post("/auth/dev-login", #"{"email":"\#(name)@shop.example"}"#).string("token")
    }

    /// Creates a session; the reply has its id and EID.
    func create(_ payee: String, cents: Int, more: String = "") async throws -> WireReply {
        try await post("/sessions/create", #"{"amount_cents":\#(cents)\#(more)}"#, token: payee)
    }

    func lock(_ sid: String, by payer: String) async throws -> WireReply {
        try await post("/sessions/lock", #"{"sid":"\#(sid)"}"#, token: payer)
    }

    func send(
        _ sid: String,
        by payer: String,
        key: String,
        more: String = ""
    ) async throws -> WireReply {
        try await post("/wallet/send", #"{"sid":"\#(sid)"\#(more)}"#, token: payer, key: key)
    }

    /// Creates a session and locks it for a payer.
    func lockedSession(_ payee: String, _ payer: String, cents: Int) async throws -> String {
        let sid = try await create(payee, cents: cents).string("sid")
        _ = try await lock(sid, by: payer)
        return sid
    }

    func balance(_ user: String) async throws -> Int64? {
        try await get("/wallet/me", token: user).integer("available_cents")
    }
}
