import CLinux
import Glibc
import SystemPackage

extension FileDescriptor {
    /// Makes a file without a path, to be read from its beginning: for the standard input of a
    /// program, which unlike with a pipe it can leave unread. The caller closes it.
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
