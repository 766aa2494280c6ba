import CLinux
import Glibc

/// Reads a line from the terminal without echo.
enum HiddenInput {
    private static let endOfFile: UInt8 = 0x04
    private static let backspaces: [UInt8] = [0x08, 0x7F]
    private static let lineEnds: [UInt8] = [0x0A, 0x0D]

    /// Reads a line. If it is longer than `limit` bytes, stops one byte after them.
    ///
    /// Canonical mode is off meanwhile: it would cut a line at 4095 bytes, and tokens may be
    /// longer. If a signal stops or ends the process, echo is restored first.
    static func readLine(limit: Int) -> [UInt8] {
        clinux_hide_input(STDIN_FILENO)
        defer { clinux_show_input() }
        var line: [UInt8] = []
        while line.count <= limit {
            var byte: UInt8 = 0
            guard read(STDIN_FILENO, &byte, 1) == 1, byte != endOfFile else { break }
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
