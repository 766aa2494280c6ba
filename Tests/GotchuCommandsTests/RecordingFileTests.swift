import Foundation
import TestSupport
import Testing

@testable import GotchuCommands

@Suite("The file that a recording is written to")
struct RecordingFileTests {
    @Test("A recording on a full disk has only complete lines")
    func fullDisk() async {
        // The test runs in a process of its own, because the limit that simulates a full disk
        // applies to a whole process.
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            let path = "\(folder.path)/recording"
            signal(SIGXFSZ, SIG_IGN)
            let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
            var limit = rlimit()
            getrlimit(resource, &limit)
            limit.rlim_cur = 10
            setrlimit(resource, &limit)
            var file = try RecordingFile(path: path)
            let hasRoom = try file.write(Array("whole".utf8))
            #expect(hasRoom)
            do {
                _ = try file.write(Array("torn!".utf8))
                Issue.record("A write beyond the limit succeeds")
            } catch {}
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "whole\n")
        }
    }
}
