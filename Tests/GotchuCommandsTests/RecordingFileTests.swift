import Foundation
import TestSupport
import Testing

@testable import GotchuCommands

@Suite("The file that a recording is written to")
struct RecordingFileTests {
    @Test("A recording on a full disk has only complete lines")
    func fullDisk() async {
        // The test runs in a separate process, as the limit that stands for a full disk applies to
        // the process.
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
                Issue.record("there is no room for it")
            } catch {}
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "whole\n")
        }
    }
}
