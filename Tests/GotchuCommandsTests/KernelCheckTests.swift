import Foundation
import Testing

@testable import BlueZ
@testable import GotchuCommands

@Suite("The doctor's findings about the kernel's adapters")
struct KernelCheckTests {
    private func adapter(_ name: String, isUp: Bool) -> KernelAdapter {
        KernelAdapter(name: name, address: "02:AA:00:00:00:01", isUp: isUp, isRunning: isUp)
    }

    @Test("An adapter that is up is good; an adapter that is down gets the command that starts it")
    func upAndDown() {
        let adapters = [adapter("hci0", isUp: true), adapter("hci1", isUp: false)]
        let open = RadioSwitch(name: "hci1", isSoftBlocked: false, isHardBlocked: false)
        let check = KernelCheck(answer: .success(adapters), switches: [open])
        #expect(!check.hasNone)
        #expect(check.findings.map(\.verdict) == [.good, .doubtful])
        #expect(check.findings.map(\.layer) == ["kernel", "kernel"])
        #expect(check.findings[0].text == "hci0 is up · 02:AA:00:00:00:01")
        #expect(check.findings[1].text.hasPrefix("hci1 is down"))
        #expect(check.findings[1].fix == "sudo systemctl start bluetooth && bluetoothctl power on")
    }

    @Test("A blocked adapter gets the fix for its own radio switch")
    func blocked() {
        let adapters = [adapter("hci0", isUp: false), adapter("hci1", isUp: false)]
        let soft = RadioSwitch(name: "hci0", isSoftBlocked: true, isHardBlocked: false)
        let hard = RadioSwitch(name: "hci1", isSoftBlocked: true, isHardBlocked: true)
        let findings = KernelCheck(answer: .success(adapters), switches: [soft, hard]).findings
        #expect(findings.map(\.text).allSatisfy { $0.hasSuffix("is down, as it is blocked.") })
        #expect(findings.map(\.fix) == [soft.finding.fix, hard.finding.fix])
        #expect(findings[0].fix == "sudo rfkill unblock bluetooth")
    }

    @Test("A kernel without adapters is bad, and the finding names commands to find the cause")
    func none() {
        let check = KernelCheck(answer: .success([]), switches: [])
        #expect(check.hasNone)
        #expect(check.findings.map(\.verdict) == [.bad])
        let fix = check.findings[0].fix ?? ""
        for command in ["lsusb", "rfkill list", "dmesg | grep -i bluetooth"] {
            #expect(fix.contains(command))
        }
    }

    @Test("A kernel without Bluetooth is bad; a kernel that fails otherwise is doubtful")
    func refusals() {
        let without = KernelCheck(
            answer: .failure(.init(number: EAFNOSUPPORT)),
            switches: []
        )
        #expect(without.hasNone)
        #expect(without.findings.map(\.verdict) == [.bad])
        #expect(without.findings[0].fix == "sudo modprobe bluetooth")
        let refused = KernelCheck(answer: .failure(.init(number: EMFILE)), switches: [])
        #expect(!refused.hasNone)
        #expect(refused.findings.map(\.verdict) == [.doubtful])
        #expect(refused.findings[0].text.contains("Too many open files"))
    }
}
