import BlueZ
import DBus
import Foundation
import GotchuAPI
import GotchuCore
import TestSupport
import Testing

@testable import GotchuCommands

/// Tests of single findings. `AbsentDaemonTests` and `LiveTests` run the whole doctor.
@Suite("Each finding of the doctor names what is wrong and what to do")
struct DoctorTests {
    private func adapter(
        isPowered: Bool = true,
        canAdvertise: Bool = true,
        version: BlueZVersion? = BlueZVersion(5, 66),
        isExperimental: Bool = false
    ) -> BluetoothAdapters.Adapter {
        BluetoothAdapters.Adapter(
            name: "hci0",
            isPowered: isPowered,
            canAdvertise: canAdvertise,
            version: version,
            isExperimental: isExperimental
        )
    }

    private func finding(
        _ layer: String,
        of adapter: BluetoothAdapters.Adapter,
        main: String = ""
    ) throws -> Finding {
        let findings = adapter.findings(main: MainConfiguration(text: main))
        return try #require(findings.first { $0.layer == layer })
    }

    @Test("The doctor finds an adapter that is off and an adapter that cannot advertise")
    func adapters() throws {
        let off = try finding("adapter", of: adapter(isPowered: false))
        #expect(off.verdict == .bad)
        #expect(off.fix == "bluetoothctl power on")
        let silent = try finding("advertising", of: adapter(canAdvertise: false))
        #expect(silent.verdict == .bad)
        #expect(try finding("adapter", of: adapter()).verdict == .good)
        #expect(try finding("advertising", of: adapter()).verdict == .good)
    }

    @Test(
        "The doctor reports a version of bluetoothd that crashes, and which advertisements it hears"
    )
    func versions() throws {
        let crashing = adapter(version: BlueZVersion(5, 87))
        let version = try finding("bluez", of: crashing)
        #expect(version.verdict == .doubtful)
        #expect(version.fix?.contains("--only-upgrade bluez") == true)
        #expect(try finding("scan", of: crashing).text.contains("hears everybody"))
        #expect(try finding("bluez", of: adapter()).verdict == .good)
        #expect(try finding("scan", of: adapter()).text.contains("service data alone is not"))
    }

    @Test("An advertising interval of 1.28 s is reported with the setting that shortens it")
    func intervals() throws {
        let stock = try finding("interval", of: adapter(), main: "[Policy]\nAutoEnable=true\n")
        #expect(stock.verdict == .doubtful)
        #expect(stock.text.contains("1.28 s"))
        #expect(stock.fix?.contains("Experimental = true in [General]") == true)
        let commented = "[General]\n#Experimental = true\n"
        #expect(try finding("interval", of: adapter(), main: commented) == stock)

        let waiting = "[general]\n Experimental = True \n"
        let restart = try finding("interval", of: adapter(), main: waiting)
        #expect(restart.fix == "sudo systemctl restart bluetooth")

        let kernel = "[LE]\nMinAdvertisementInterval=0x00A0\n"
        let asked = try finding("interval", of: adapter(), main: kernel)
        #expect(asked.verdict == .doubtful)
        #expect(asked.text.contains("asks for 100 ms"))

        let honoured = [adapter(isExperimental: true), adapter(version: BlueZVersion(5, 77))]
        for adapter in honoured {
            #expect(try finding("interval", of: adapter).verdict == .good)
        }
    }

    @Test(
        "The finding about a soft-blocked radio has a command, about a hard-blocked radio the cause"
    )
    func switches() throws {
        let folder = try TemporaryFolder()
        for (entry, type, soft, hard) in [
            ("rfkill0", "bluetooth", "0", "0"), ("rfkill1", "bluetooth", "1", "0"),
            ("rfkill2", "bluetooth", "1", "1"), ("rfkill3", "wlan", "1", "1"),
        ] {
            let path = "\(folder.path)/\(entry)"
            try FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: false
            )
            for (file, text) in [
                ("type", type), ("soft", soft), ("hard", hard), ("name", "hci-\(entry)"),
            ] {
                _ = try folder.write("\(text)\n", to: "\(entry)/\(file)")
            }
        }
        let findings = RadioSwitch.all(in: folder.path).map(\.finding)
        #expect(findings.map(\.verdict) == [.good, .bad, .bad])
        #expect(findings[1].text == "hci-rfkill1 is blocked.")
        #expect(findings[1].fix == "sudo rfkill unblock bluetooth")
        #expect(findings[2].text.contains("by a key or by the firmware"))
        #expect(RadioSwitch.all(in: "\(folder.path)/none").isEmpty)
    }

    @Test("The doctor distinguishes a bus that refuses from a bluetoothd that does not answer")
    func policy() {
        let denied = DBusError(.remote, name: "org.freedesktop.DBus.Error.AccessDenied")
        let without = BluetoothCheck.findings(for: denied, policy: PolicyCheck(path: nil))
        #expect(without.map(\.layer) == ["policy", "bluetoothd"])
        #expect(without.map(\.verdict) == [.bad, .skipped])
        #expect(without[0].text.contains(PolicyCheck.file))

        let installed = PolicyCheck(path: "/etc/dbus-1/system.d/\(PolicyCheck.file)")
        let refused = BluetoothCheck.findings(for: denied, policy: installed)
        #expect(refused[0].verdict == (geteuid() == 0 ? .bad : .doubtful))
        #expect(refused[0].fix != nil)

        let silent = BluetoothCheck.findings(for: DBusError(.timedOut), policy: installed)
        #expect(silent.map(\.verdict) == [.good, .bad])
        #expect(silent[1].fix == "sudo systemctl restart bluetooth")
        #expect(PolicyCheck(path: nil).finding(nil).verdict == .doubtful)
    }

    @Test("The doctor reports a user's access to gotchud, and how to grant it")
    func permissions() {
        func verdict(
            _ userID: UInt32,
            _ groupID: UInt32?,
            _ isMember: Bool
        ) -> Finding {
            PermissionCheck(
                userID: userID,
                groupID: groupID,
                isMember: isMember
            ).finding
        }
        #expect(verdict(0, nil, false).verdict == .good)
        #expect(verdict(1000, 990, true).verdict == .good)
        #expect(verdict(1000, 990, false).fix == "sudo usermod -aG gotchu USER")
        #expect(verdict(1000, nil, false).fix == "sudo systemd-sysusers")
    }

    @Test("A clock is doubtful if it is 5 s off the server's clock, and bad if it is a minute off")
    func clock() {
        func finding(_ seconds: Int64?, isSynchronised: Bool = true) -> Finding {
            ClockCheck(
                isSynchronised: isSynchronised,
                lead: seconds.map { .seconds($0) }
            ).finding
        }
        #expect(finding(nil).verdict == .good)
        #expect(finding(4).verdict == .good)
        #expect(finding(-5).verdict == .doubtful)
        #expect(finding(-5).text.contains("5 s behind"))
        #expect(finding(60).verdict == .bad)
        #expect(finding(60).text.contains("60 s ahead of"))
        #expect(finding(0, isSynchronised: false).verdict == .doubtful)
        #expect(finding(nil, isSynchronised: false).text.contains("does not know of a time server"))
        #expect(finding(60).fix == "sudo timedatectl set-ntp true")
    }

    @Test("Without a daemon, the doctor's own probe decides the finding about the server")
    func server() {
        let there = ServerProbeReply(url: "https://pay.example", isReachable: true)
        let away = ServerProbeReply(
            url: "https://pay.example",
            isReachable: false,
            problem: HealthItem(
                code: "server-silent",
                severity: .error,
                text: "It does not answer in time.",
                fix: "curl -sv https://pay.example/readyz"
            )
        )
        #expect(ServerCheck.findings(nil, probe: there).map(\.verdict) == [.good, .skipped])
        let findings = ServerCheck.findings(nil, probe: away)
        #expect(findings.map(\.verdict) == [.bad, .skipped])
        #expect(findings[0].text == "It does not answer in time.")
        #expect(findings[0].fix == "curl -sv https://pay.example/readyz")
        #expect(ServerCheck.findings(nil, probe: nil).map(\.verdict) == [.skipped, .skipped])
    }

    @Test("The doctor without a daemon runs gotchud to probe the real server")
    func probe() async throws {
        let system = try await LiveSystem(isLoggedIn: false)
        let status = try await GotchuCtl.run(["status", "--json"], socket: system.kiosk).json()
        let server = try #require((status["server"] as? [String: Any])?["url"] as? String)
        let run = try await GotchuCtl.run(
            ["doctor", "--json"],
            environment: ["GOTCHU_SERVER": server]
        )
        #expect(run.code == 1)
        let report = try run.json()["findings"] as? [[String: Any]] ?? []
        func verdict(_ layer: String) -> String? {
            report.first { $0["layer"] as? String == layer }?["verdict"] as? String
        }
        #expect(verdict("daemon") == "bad")
        #expect(verdict("server") == "good", "\(run.out)")
        #expect(verdict("clock") != "bad")
        #expect(verdict("permission") != nil)
        #expect(verdict("configuration") == "good")
    }

    @Test(
        "The command `gotchud --check-server` exits with 75 and a reason without an answer"
    )
    func checkServer() async throws {
        let away = try Program(
            "gotchud",
            ["--check-server"],
            environment: ["GOTCHU_SERVER": "http://127.0.0.1:9"]
        )
        #expect(try await away.exitCode() == 75)
        let reply = try JSONDecoder().decode(ServerProbeReply.self, from: Data(away.text.utf8))
        #expect(!reply.isReachable)
        #expect(reply.problem?.code == "server-unreachable")
    }

    @Test("A date in HTTP's format is read to the second, and other formats are refused")
    func httpDate() {
        let date = Timestamp(httpDate: "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(date?.iso8601 == "1994-11-06T08:49:37.000Z")
        for wrong in [
            "", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 06 Nix 1994 08:49:37 GMT", "Sun, 36 Nov 1994 08:49:37 GMT",
        ] {
            #expect(Timestamp(httpDate: wrong) == nil, "\(wrong)")
        }
    }
}
