import Radio
import TestSupport

extension SimulatedRadio {
    /// Creates a kiosk's radio on a simulated air in the test's folder.
    convenience init(kioskIn folder: TemporaryFolder) {
        self.init(folder: "\(folder.path)/air", name: "kiosk", position: AirPosition(x: 0, y: 0))
    }
}
