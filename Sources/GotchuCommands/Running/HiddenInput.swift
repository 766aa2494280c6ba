import ArgumentParser
import Glibc
import ServiceProcess

/// Reads a line from the terminal without showing it.
enum HiddenInput {
    private static let interrupt: UInt8 = 0x03
    private static let endOfFile: UInt8 = 0x04
    private static let backspaces: [UInt8] = [0x08, 0x7F]
    private static let lineEnds: [UInt8] = [0x0A, 0x0D]

    /// Reads up to the end of the line, or one byte more than `limit`.
    ///
    /// The line discipline is off while it reads: it would cut a line at 4095 bytes, and tokens may
    /// be longer; and a Ctrl-C that ended the process there would leave the terminal without echo.
    static func readLine(limit: Int) throws -> [UInt8] {
        var before = termios()
        tcgetattr(STDIN_FILENO, &before)
        var hidden = before
        hidden.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
        defer { tcsetattr(STDIN_FILENO, TCSAFLUSH, &before) }
        var line: [UInt8] = []
        while line.count <= limit {
            var byte: UInt8 = 0
            guard read(STDIN_FILENO, &byte, 1) == 1, byte != endOfFile else { break }
            if byte == interrupt { throw ExitCode(ExitStatus.interrupted.rawValue) }
            if lineEnds.contains(byte) { break }
            if backspaces.contains(byte) {
                _ = line.popLast()
            } else {
                line.append(byte)
            }
        }
        return line
    }
}
