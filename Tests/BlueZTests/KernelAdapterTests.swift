import BlueZ
import Foundation
import Testing

@Suite struct KernelAdapterTests {
    @Test(
        "The adapters in the kernel's list are those of sysfs, or the kernel reports no Bluetooth"
    )
    func agrees() throws {
        let folder = "/sys/class/bluetooth"
        let adapters: [KernelAdapter]
        do {
            adapters = try KernelAdapter.all()
        } catch {
            #expect(error.number == EAFNOSUPPORT)
            #expect(!FileManager.default.fileExists(atPath: folder))
            return
        }
        // sysfs also lists connections: `hci0:1`.
        let found = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let names = found.filter { $0.hasPrefix("hci") && !$0.contains(":") }
        #expect(adapters.map(\.name).sorted() == names.sorted())
        #expect(adapters.allSatisfy { $0.address.utf8.count == 17 })
    }
}
