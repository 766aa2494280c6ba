import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

@Suite("The time zone of the programs")
struct TimeZoneTests {
    @Test(
        "A time zone that cannot be used ends each program with 78, and the message names it",
        arguments: ["Europe/Berln", "right/Europe/Berlin", "/no/zone", "CET-1CEST"]
    )
    func unusable(zone: String) async throws {
        let folder = try TemporaryFolder()
        let config = try folder.write("{}", to: "gotchud.json")
        for (program, arguments) in [
            ("gotchud", ["--check-config", "--config", config]),
            ("gotchu-ctl", ["status", "--socket", "\(folder.path)/socket"]),
            (
                "gotchu-server",
                ["--listen", "127.0.0.1:0", "--database", "sqlite:\(folder.path)/books", "--dev"]
            ),
        ] {
            let run = try Program(program, arguments, environment: ["TZ": zone])
            #expect(try await run.exitCode() == 78, "\(program): \(run.text)")
            #expect(run.text.contains("TZ=\(zone)"), "\(program): \(run.text)")
            #expect(run.text.contains("Set TZ to a name such as Europe/Berlin"), "\(run.text)")
        }
    }

    @Test("A day's report is of the zone that TZ gives in any form; a rule needs a named zone")
    func report() async throws {
        let shop = try await Shop()
        let copy = "\(shop.folder.path)/zone"
        try FileManager.default.copyItem(atPath: "/usr/share/zoneinfo/Asia/Tokyo", toPath: copy)
        for (variable, name) in [
            (":posix/Europe/Berlin", "Europe/Berlin"), ("/usr/share/zoneinfo/Asia/Tokyo", nil),
            (copy, nil), ("", "UTC"), ("<+09>-9", "Etc/GMT-9"),
            ("CET-1CEST,M3.5.0,M10.5.0/3", ""),
        ] as [(String, String?)] {
            let kiosk = Device(name: "kiosk", shop: shop)
            try await kiosk.start(through: ["/usr/bin/env", "TZ=\(variable)"])
            try await kiosk.logIn()
            if name == "" {
                await #expect {
                    _ = try await kiosk.get("/v1/report", as: ReportReply.self)
                } throws: { error in
                    let problem = error as? Problem
                    return problem?.errorCode == .validationError
                        && problem?.detail.contains(variable) == true
                        && problem?.fix?.contains("--zone Europe/Berlin") == true
                }
            } else {
                let report = try await kiosk.get("/v1/report", as: ReportReply.self)
                #expect(report.zone == name ?? "Asia/Tokyo", "\(variable)")
            }
            try kiosk.signal(SIGTERM)
            #expect(try await kiosk.exitCode() == 0)
        }
    }
}
