import Foundation
import ServiceProcess
import TestSupport
import Testing

@testable import GotchuDaemon

@Suite("Private files and folders")
struct DurableFileTests {
    @Test(
        "A temporary file or link that somebody has planted is not used; the new file is private"
    )
    func planted() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/token"
        let other = try folder.write("other", to: "other")
        for plant in ["file", "link"] {
            if plant == "file" {
                _ = try folder.write("planted", to: "token.new")
                chmod("\(path).new", 0o666)
            } else {
                #expect(symlink(other, "\(path).new") == 0)
            }
            try DurableFile.replace(path, with: Array("secret \(plant)".utf8))
            let found = try FileManager.default.attributesOfItem(atPath: path)
            #expect(found[.posixPermissions] as? Int == 0o600, "\(plant)")
            #expect(found[.type] as? FileAttributeType == .typeRegular, "\(plant)")
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "secret \(plant)")
        }
        #expect(try String(contentsOfFile: other, encoding: .utf8) == "other")
    }

    @Test(
        "A state folder that the group or others may write to is refused; a new folder is private"
    )
    func stateFolder() throws {
        let folder = try TemporaryFolder()
        let made = "\(folder.path)/new/state"
        try StateFolder.prepare(made)
        try StateFolder.prepare(made)
        let found = try FileManager.default.attributesOfItem(atPath: made)
        #expect(found[.posixPermissions] as? Int == 0o700)
        for mode in [0o770, 0o702] as [mode_t] {
            #expect(chmod(made, mode) == 0)
            #expect(throws: StateFolder.Failure.writable(path: made)) {
                try StateFolder.prepare(made)
            }
        }
        #expect(chmod(made, 0o755) == 0)
        try StateFolder.prepare(made)
    }

    @Test(
        "A state folder of another user is refused",
        .enabled(if: geteuid() == 0, "only root can give a folder away")
    )
    func foreignFolder() throws {
        let folder = try TemporaryFolder()
        #expect(chown(folder.path, 65001, 65001) == 0)
        #expect(throws: StateFolder.Failure.foreign(path: folder.path, userID: 65001)) {
            try StateFolder.prepare(folder.path)
        }
    }
}
