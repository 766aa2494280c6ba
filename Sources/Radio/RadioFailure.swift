/// The reason why a radio cannot do what was requested.
package struct RadioFailure: Error, Equatable, Sendable {
    package var code: Code
    /// The underlying cause, for logs: a D-Bus error name, an errno; for `noAdapter`, the adapter
    /// that was configured.
    package var underlying: String?

    package init(_ code: Code, underlying: String? = nil) {
        self.code = code
        self.underlying = underlying
    }

    /// Stable codes, which are also the codes of the daemon's health items.
    package enum Code: String, CaseIterable, Codable, Sendable {
        case noBus = "bus-unavailable"
        case noBlueZ = "bluetoothd-not-running"
        case noAdapter = "bluetooth-adapter-missing"
        case adapterOff = "bluetooth-adapter-off"
        case notPermitted = "bluetooth-not-permitted"
        case tooManyAdvertisements = "advertisements-exhausted"
        case rejected = "bluetooth-request-rejected"
        case timedOut = "bluetoothd-not-answering"
        case scanSilent = "bluetooth-scan-silent"
        case scanBusy = "bluetooth-scan-busy"
        case adapterUnresponsive = "bluetooth-adapter-not-answering"
        case scanStuck = "bluetooth-scan-stuck"
        case airUnavailable = "simulated-air-unavailable"
        case replayOnlyListens = "replay-only-listens"
        case replayEnded = "replay-ended"
        case noManagement = "management-socket-unavailable"
    }

    /// One sentence that describes the problem.
    package var sentence: String {
        switch code {
        case .noBus: "The D-Bus system bus cannot be reached."
        case .noBlueZ: "bluetoothd is not running."
        case .noAdapter:
            "The Bluetooth adapter \(underlying.map { "\($0) " } ?? "")is not there."
        case .adapterOff: "The Bluetooth adapter is switched off."
        case .notPermitted: "The system bus does not let gotchud talk to bluetoothd."
        case .tooManyAdvertisements: "The adapter has no room for another advertisement."
        case .rejected: "bluetoothd refused the request."
        case .timedOut: "bluetoothd does not answer."
        case .scanSilent: "The adapter says that it scans, and hears nothing at all."
        case .scanBusy: "The adapter is still busy with a scan that somebody else began."
        case .adapterUnresponsive: "The Bluetooth adapter does not answer."
        case .scanStuck: "The kernel waits for a scan to end that the adapter has forgotten."
        case .airUnavailable: "The folder of the simulated air cannot be used."
        case .replayOnlyListens: "A replay only listens, and cannot put anything on the air."
        case .replayEnded: "The recording has been played to its end."
        case .noManagement: "The kernel's Bluetooth management socket cannot be listened to."
        }
    }

    /// The command or step that fixes it, or shows its cause.
    package var fix: String {
        switch code {
        case .noBus: "sudo systemctl start dbus"
        case .noBlueZ: "sudo systemctl start bluetooth"
        // The kernel numbers adapters anew when they are plugged in.
        case .noAdapter: "bluetoothctl list, and set radio in gotchud.json to auto or an address"
        case .adapterOff: "sudo rfkill unblock bluetooth && bluetoothctl power on"
        case .notPermitted: "sudo systemctl reload dbus"
        case .tooManyAdvertisements: "bluetoothctl show"
        case .rejected: "journalctl -u bluetooth -n 20"
        case .timedOut, .scanSilent: "sudo systemctl restart bluetooth"
        case .scanBusy: "Wait ten seconds: by then the kernel has ended it."
        case .adapterUnresponsive:
            "If it does not come back by itself, pull it out and put it back."
        case .scanStuck: "bluetoothctl power off && bluetoothctl power on"
        case .airUnavailable:
            "ls -ld the folder after 'simulated:' and check that gotchud may write to it"
        case .replayOnlyListens: "gotchud --radio auto"
        case .replayEnded: "Start gotchud again to hear it again, or with --radio auto."
        case .noManagement: "man gotchud: MANAGEMENT SOCKET, or --radio auto"
        }
    }
}
