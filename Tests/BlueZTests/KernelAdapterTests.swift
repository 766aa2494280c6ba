import BlueZ
import Glibc
import Testing

@Suite struct KernelAdapterTests {
    @Test(
        "Each adapter in the kernel's list is in sysfs, or the kernel reports no Bluetooth"
    )
    func agrees() throws {
        let folder = opendir("/sys/class/bluetooth")
        defer { if let folder { closedir(folder) } }
        do {
            let adapters = try KernelAdapter.all()
            for adapter in adapters {
                #expect(access("/sys/class/bluetooth/\(adapter.name)", F_OK) == 0)
                #expect(adapter.address.utf8.count == 17)
            }
        } catch {
            #expect(error.number == EAFNOSUPPORT && folder == nil)
        }
    }
}
