import GotchuAPI
import GotchuCore

extension DaemonBackend {
    func calibrations() async -> CalibrationsReply {
        CalibrationsReply(calibrations: calibrationStore.views)
    }

    func calibrate(_ new: NewCalibration) async throws(Problem) -> CalibrationsReply {
        guard let tap = NewCalibration.levels(in: new.tap),
            let metre = NewCalibration.levels(in: new.metre)
        else {
            throw .invalid(
                "tap and metre are levels in dBm with spaces between them, at most "
                    + "\(NewCalibration.sampleLimit) each."
            )
        }
        let radio = core.status.reply.radio
        guard new.adapter == radio.adapter else {
            throw .invalid("\(new.adapter.prefix(32)) is not the adapter that is used.")
        }
        let calibration: Calibration
        do throws(Calibration.Refusal) {
            calibration = try Calibration(tap: tap, metre: metre)
        } catch {
            throw Problem(.validationError, detail: error.sentence, fix: error.advice)
        }
        try calibrationStore.set(calibration, for: radio.address ?? new.adapter)
        presenceService.applyCalibration()
        return await calibrations()
    }

    func resetCalibration() async throws(Problem) -> CalibrationsReply {
        try calibrationStore.reset()
        presenceService.applyCalibration()
        return await calibrations()
    }
}
