import FoundationEssentials
import Glibc
import Subprocess

/// The web pages of a demo, on free ports of this machine.
struct DemoScreens: Sendable {
    let display: UInt16
    let till: UInt16
    let server: UInt16

    init() throws {
        display = try Self.freePort()
        till = try Self.freePort()
        server = try Self.freePort()
    }

    var displayURL: String { "http://127.0.0.1:\(display)/display" }
    var tillURL: String { "http://127.0.0.1:\(till)/till" }
    var earningsURL: String { "http://127.0.0.1:\(server)/web" }

    /// The settings of the kiosk's gotchud.
    var configuration: String {
        """
        {"screens": {"display": "127.0.0.1:\(display)", "till": "127.0.0.1:\(till)",
            "shop": "Corner Cafe"}}
        """
    }

    /// The ssh arguments that forward the pages to another machine.
    var forwarding: String {
        [display, till, server].map { "-L \($0):127.0.0.1:\($0)" }.joined(separator: " ")
    }

    /// Opens the pages in the user's browser.
    ///
    /// - Returns: False if there is no desktop, or a page cannot be opened.
    func open() async throws -> Bool {
        guard Environment["DISPLAY"] ?? Environment["WAYLAND_DISPLAY"] != nil else { return false }
        for url in [earningsURL, tillURL, displayURL] {
            let opener = try? await Subprocess.run(
                .name("xdg-open"),
                arguments: [url],
                output: .discarded,
                error: .discarded
            )
            guard opener?.terminationStatus.isSuccess == true else { return false }
        }
        return true
    }

    /// Returns a loopback port that is free now.
    private static func freePort() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, length) == 0
                    && getsockname(descriptor, pointer, &length) == 0
            }
        }
        guard isBound else {
            throw CommandFailure.inputOutput(
                "No port of 127.0.0.1 is free: \(String(cString: strerror(errno))).",
                next: "ss -tln"
            )
        }
        return UInt16(bigEndian: address.sin_port)
    }
}
