import ArgumentParser
import Glibc
import GotchuAPI
import GotchuCore
import LocalAPI
import ServiceProcess

/// `gotchu-ctl calibrate`: measures this adapter's levels at tap distance and at one metre. They
/// set the thresholds of the verdicts.
struct CalibrateCommand: SocketCommand {
    static let configuration = CommandConfiguration(
        commandName: "calibrate",
        abstract: "Measure levels at tap distance and at one metre, and set the thresholds.",
        discussion: """
            EXAMPLES:
              sudo gotchu-ctl calibrate
              gotchu-ctl calibrate --show
              sudo gotchu-ctl calibrate --reset

            A till with an open request must be in reach: gotchu-ctl request 1.00 there. What was \
            measured is kept for this adapter, applies at once, and replaces the levels of the \
            configuration. Ctrl-C leaves everything as it was.
            """
    )

    @OptionGroup var options: CommonOptions

    @Flag(help: "Show the measurements, and measure nothing.")
    var show = false

    @Flag(help: "Delete the measurements: the configuration's levels apply again.")
    var reset = false

    @Option(help: "Listen to this till, if several are near.")
    var eid: String?

    @Option(help: .value("count", "Advertisements to hear at each distance."))
    var samples = 60

    @Option(help: .value("seconds", "Give up at a distance after this time."))
    var timeout = Seconds(60)

    func validate() throws {
        guard !(show && reset) else { throw ValidationError("--show or --reset: choose one.") }
        let range = Calibration.minimumSamples...NewCalibration.sampleLimit
        guard range.contains(samples) else {
            throw ValidationError("--samples is \(range.lowerBound) to \(range.upperBound).")
        }
    }

    func run(_ client: LocalClient, _ output: Output) async throws {
        if reset {
            return try render(try await client.resetCalibration().calibrations, output)
        }
        if show {
            return try render(try await client.calibrations().calibrations, output)
        }
        let outcome = try await race { try await measure(client, output) }
        switch outcome {
        case .finished(let calibrations): try render(calibrations, output)
        case .timedOut, .interrupted:
            output.message("\nNothing was changed.")
            throw ExitCode(ExitStatus.negative.rawValue)
        }
    }

    private func measure(
        _ client: LocalClient,
        _ output: Output
    ) async throws -> [CalibrationView] {
        let wanted = try eid.map { text in
            guard let eid = EID(text) else {
                throw CommandFailure.badData(
                    "An EID has 10 hex characters: \(text.printable)",
                    next: "gotchu-ctl scan"
                )
            }
            return eid
        }
        // Printed before the measurement: without root its result is not stored.
        if geteuid() != 0 { output.message("Only root may keep it: sudo gotchu-ctl calibrate") }
        output.message("1 of 2: hold this device against the till, as a customer does. Then Enter.")
        let tap = try await measurement(of: wanted, client, output).run()
        output.message("2 of 2: hold it one metre away from the till. Then Enter.")
        let metre = try await measurement(of: wanted, client, output).run()
        guard tap.adapter == metre.adapter else {
            throw CommandFailure.negative(
                "The adapter was another one at the second distance.",
                next: "gotchu-ctl calibrate"
            )
        }
        do throws(Calibration.Refusal) {
            _ = try Calibration(tap: tap.levels, metre: metre.levels)
        } catch {
            throw CommandFailure.negative(error.sentence, next: error.advice)
        }
        let new = NewCalibration(adapter: tap.adapter, tap: tap.levels, metre: metre.levels)
        return try await client.calibrate(new).calibrations
    }

    private func measurement(
        of wanted: EID?,
        _ client: LocalClient,
        _ output: Output
    ) -> LevelMeasurement {
        LevelMeasurement(
            client: client,
            output: output,
            wanted: wanted,
            count: samples,
            limit: timeout.duration
        )
    }

    private func render(_ calibrations: [CalibrationView], _ output: Output) throws {
        guard !output.isJSON else {
            return try output.json(CalibrationsReply(calibrations: calibrations))
        }
        guard !calibrations.isEmpty else {
            return output.line("Nothing was measured: the configuration's levels apply.")
        }
        var table = Table(columns: [
            Table.Column(title: "ADAPTER"),
            Table.Column(title: "AT TAP", dropPriority: 1),
            Table.Column(title: "AT 1 m", dropPriority: 1),
            Table.Column(title: "TAP ENTER/LEAVE"),
            Table.Column(title: "NEAR ENTER/LEAVE"),
            Table.Column(title: "SPREAD", dropPriority: 2),
        ])
        table.rows = calibrations.map { view in
            [
                Table.Cell(view.adapter.printable),
                Table.Cell(view.tap.text),
                Table.Cell(view.metre.text),
                Table.Cell("\(view.tapEnter)/\(view.tapLeave)"),
                Table.Cell("\(view.nearEnter)/\(view.nearLeave)"),
                Table.Cell("\(view.spread) dB"),
            ]
        }
        table.lines(on: output.data).forEach { output.line($0) }
    }
}

extension CalibrationView {
    /// The standard deviation of the levels in whole dB, at the distance where it is larger.
    fileprivate var spread: Int { Int(max(tap.spread, metre.spread).rounded()) }
}

extension LevelPercentiles {
    /// The median, and the 10th and 90th percentiles.
    fileprivate var text: String { "\(p50) (\(p10) … \(p90))" }
}
