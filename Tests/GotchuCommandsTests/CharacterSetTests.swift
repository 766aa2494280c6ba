import Foundation
import TestSupport
import Testing

@testable import GotchuCommands

@Suite("A terminal with another character set than UTF-8")
struct CharacterSetTests {
    @Test(
        "A terminal with another character set than UTF-8 gets only ASCII",
        .enabled(if: access("/usr/bin/script", X_OK) == 0),
        arguments: [
            (["LC_ALL": "C"], "- Kaff? ??"), (["LC_ALL": "", "LC_CTYPE": "de_DE"], "- Kaff? ??"),
            (["LC_ALL": "de_DE.utf8"], "· Kaffé 🦆"),
        ]
    )
    func terminal(locale: [String: String], shown: String) async throws {
        let system = try await LiveSystem(distance: 5)
        let request =
            "\(GotchuCtl.path) request 5 --ttl 1 --memo 'Kaffé 🦆' --socket "
            + "\(system.kiosk)"
        var environment = ["TERM": "dumb", "SHELL": "/bin/sh"]
        environment.merge(locale) { $1 }
        let terminal = try Program(
            "/usr/bin/script",
            ["--quiet", "--flush", "--command", request, "/dev/null"],
            environment: environment
        )
        try await terminal.exitCode()
        #expect(terminal.text.contains(shown), "\(terminal.text)")
        #expect(terminal.text.utf8.allSatisfy { $0 < 0x80 } == shown.utf8.allSatisfy { $0 < 0x80 })
    }

    @Test("The terminal's character set does not change output that goes into a file")
    func file() async throws {
        let run = try await GotchuCtl.run(["status"], environment: ["LC_ALL": "C"])
        #expect(run.next.hasPrefix("→ "))
    }

    @Test("ASCII replacements are as wide as the originals, so that tables stay in line")
    func width() {
        for text in ["a · b …", "██▏ → “x”", "東京 Käse 🦆", "a\r\nb\u{1B}[0m"] {
            #expect(text.inASCII.utf8.allSatisfy { $0 < 0x80 })
            #expect(text.inASCII.columns == text.columns, "\(text.inASCII)")
        }
        #expect("→ ✓ ✗ …".inASCII == "> + x .")
    }
}
