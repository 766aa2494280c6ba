import GotchuCore
import Testing

@Suite("A report reveals no secrets")
struct RedactorTests {
    /// Texts as in logs and replies, with one secret each: the text, the secret in it and a part
    /// of the expected result.
    private static let planted: [(text: String, secret: String, left: String)] = [
        ("heard 8bb71b3447 at -41", "8bb71b3447", "heard eid-1 at -41"),
        ("heard 8BB71B3447.", "8BB71B3447", "heard eid-1."),
        (#"{"eid":"8bb71b3447"}"#, "8bb71b3447", #"{"eid":"eid-1"}"#),
        ("adapter 02:AA:00:00:00:01 is up", "02:AA:00:00:00:01", "adapter address-1 is up"),
        ("/org/bluez/hci0/dev_02_AA_00_00_00_01", "02_AA_00_00_00_01", "dev_address-1"),
        ("Authorization: Bearer dev.ann.x-Y_9", "dev.ann.x-Y_9", "Bearer token-1"),
        ("got eyJhbGciOiJF.eyJzdWIiOiJh.c2lnbmF0dXJl !", "eyJhbGciOiJF", "got token-1 !"),
        ("paid by ann.b+c@example.co.uk, thanks", "ann.b+c@example.co.uk", "by email-1, thanks"),
        ("https://bob:hunter2@pay.example/x", "hunter2", "https://credential-1@pay.example/x"),
        ("client_secret=s3cr3t&scope=a", "s3cr3t", "client_secret=credential-1&scope=a"),
        (#""api_key": "k-1234""#, "k-1234", #""api_key": "credential-1""#),
        ("PASSWORD: hunter2", "hunter2", "PASSWORD: credential-1"),
        ("sid 3f0c9a52-1c1f-4c0e-9d5c-0123456789ab", "3f0c9a52", "sid id-1"),
        ("sid 3f0c9a521c1f4c0e9d5c0123456789ab", "3f0c9a52", "sid id-1"),
        ("key Zm9vYmFyMTIzQUJD7ZGVm", "Zm9vYmFyMTIz", "key id-1"),
        ("cannot read /home/ann/token", "/ann/", "/home/user-1/token"),
    ]

    @Test("Each kind of secret is removed, and its place is marked", arguments: planted)
    func secrets(text: String, secret: String, left: String) {
        var redactor = Redactor()
        let said = redactor.redact(text)
        #expect(!said.contains(secret), "\(said)")
        #expect(said.contains(left), "\(said)")
    }

    @Test(
        "Ordinary text stays unchanged",
        arguments: [
            "radio = simulated:/tmp/air@0.0,0.0", "simulated(folder: \"/run/air\", x: 0.0)",
            "2026-11-21T09:30:00.000Z notice: gotchud is listening socket=/run/gotchu/gotchud.sock",
            "gotchu_journal_seconds_bucket{le=\"0.005\"} 12",
            "gotchu_requests_2xx_total_by_state 1",
            "Ready · adapter hci0 · server https://pay.example:8443 reachable (42 ms)",
            "request paid $50.00 2026-11-21T09:30:00.000Z",
            "org.bluez.AdvertisementMonitorManager1",
            "BlueZ 5.66", "status 12345678901", "10 % 1:2:3", "server-unreachable", "user@host",
            "token_file = (none)", "bluetooth configuration accelerated", "fe80::1", "09:30:00",
        ]
    )
    func ordinary(text: String) {
        var redactor = Redactor()
        #expect(redactor.redact(text) == text)
    }

    @Test("A secret has the same substitute everywhere, and a second redaction changes nothing")
    func names() {
        var redactor = Redactor()
        let first = redactor.redact("8bb71b3447 and a1b2c3d4e5 by 02:AA:00:00:00:01")
        let second = redactor.redact("A1B2C3D4E5, dev_02_aa_00_00_00_01")
        #expect(Set(first.split(separator: " ")) == ["eid-1", "eid-2", "and", "by", "address-1"])
        let name = first.split(separator: " ")[2]
        #expect(second == "\(name), dev_address-1")
        #expect(redactor.redact(first) == first)
        #expect(redactor.redact(second) == second)
    }

    @Test("Known secrets are replaced, the longest first, except a secret of one letter")
    func known() {
        var redactor = Redactor()
        redactor.hide("Anna", as: .name)
        redactor.hide("Anna's birthday cake", as: .memo)
        redactor.hide("x", as: .memo)
        redactor.hide(nil, as: .token)
        let said = redactor.redact("Anna's birthday cake for Anna, x times")
        #expect(said == "memo-1 for name-1, x times")
    }
}
