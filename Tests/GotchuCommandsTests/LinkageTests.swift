import Foundation
import TestSupport
import Testing

@Suite("gotchu-ctl stays small")
struct LinkageTests {
    @Test("it links neither full Foundation nor ICU")
    func noFoundation() async throws {
        let binary = Program.folder.appendingPathComponent("gotchu-ctl").path
        let ldd = try Program("/usr/bin/ldd", [binary])
        #expect(try await ldd.exitCode() == 0)
        let text = try await eventually("ldd's output is read") {
            ldd.text.contains("libc.so") ? ldd.text : nil
        }
        #expect(!text.contains("libFoundation.so"))
        #expect(!text.contains("ICU") && !text.contains("libicu"))
    }
}
