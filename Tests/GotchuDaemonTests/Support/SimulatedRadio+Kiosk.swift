import Radio
import TestSupport

extension SimulatedRadio {
    /// Creates a kiosk's, on an air of the test's own.
    convenience init(kioskIn folder: TemporaryFolder) {
        self.init(folder: "\(folder.path)/air", name: "kiosk", position: AirPosition(x: 0, y: 0))
    }
}
