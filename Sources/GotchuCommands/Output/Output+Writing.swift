import Glibc
import ServiceProcess
import Synchronization

extension Output {
    /// The errno of the first write of data that failed, while the command cleans up because of it.
    private static let failure = Mutex<CInt?>(nil)

    /// Ends the process if data could not be written, now that all is tidied up.
    static func endIfUnwritable() {
        if let code = failure.withLock(\.self) { StandardStreams.end(unwritable: code) }
    }

    /// Writes everything. Without a reader for the data there is nothing left to do: then the
    /// process ends, or tidies up first.
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
                return isData ? lose(terminal, code) : ()
            }
        }
    }

    /// Data has nowhere to go. Talk has not either at times, and nothing depends on it.
    private func lose(_ terminal: Terminal, _ code: CInt) {
        // The terminal was closed: SIGHUP says what becomes of the command, and what it tidies up
        // must not end here.
        if code == EIO, terminal.isTerminal { return }
        guard SignalTrap.isAwaited else { StandardStreams.end(unwritable: code) }
        Self.failure.withLock { $0 = code }
        // As at any signal that ends the command; `endIfUnwritable` then says why.
        kill(getpid(), SIGTERM)
    }
}
