import CLinux
import Glibc
import SystemPackage

extension FileDescriptor {
    /// Creates a file without a path, positioned at its start. As a program's standard input it may
    /// be left unread, unlike a pipe. The caller closes it.
    static func inMemory(_ bytes: [UInt8]) throws -> FileDescriptor {
        let number = clinux_memory_file()
        guard number >= 0 else { throw Errno(rawValue: errno) }
        let file = FileDescriptor(rawValue: number)
        do {
            try file.writeAll(bytes)
            try file.seek(offset: 0, from: .start)
            return file
        } catch {
            try? file.close()
            throw error
        }
    }
}
