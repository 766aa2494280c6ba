import Glibc
import ServiceProcess
import Synchronization

extension Output {
    /// The errno of the first failed write of data, while the command cleans up because of it.
    private static let failure = Mutex<CInt?>(nil)

    /// Ends the process with an error if data could not be written. Called after the clean-up.
    static func endIfUnwritable() {
        if let code = failure.withLock(\.self) { StandardStreams.end(unwritable: code) }
    }

    /// Writes the whole text. If data cannot be written, such as to a closed pipe, the process
    /// ends. If the command has a clean-up, this runs first.
    func write(_ text: String, to terminal: Terminal) {
        let isData = terminal.descriptor == data.descriptor
        guard !isData || Self.failure.withLock({ $0 == nil }) else { return }
        var bytes = Array((terminal.isPlain ? text.inASCII : text).utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes {
                Glibc.write(terminal.descriptor, $0.baseAddress, $0.count)
            }
            let code = errno
            if count >= 0 {
                bytes = bytes.dropFirst(count)
            } else if code != EINTR {
                return isData ? handleWriteFailure(terminal, code) : ()
            }
        }
    }

    /// Ends the command after a failed write of data. `write` ignores failed writes of other text.
    private func handleWriteFailure(_ terminal: Terminal, _ code: CInt) {
        // The terminal was closed: SIGHUP already ends the command. Another signal would end its
        // clean-up.
        if code == EIO, terminal.isTerminal { return }
        guard SignalTrap.isActive else { StandardStreams.end(unwritable: code) }
        Self.failure.withLock { $0 = code }
        // Starts the clean-up, as any signal does. `endIfUnwritable` then reports the reason.
        kill(getpid(), SIGTERM)
    }
}
