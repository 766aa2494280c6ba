import Logging
import Radio

extension BlueZRadio {
    /// Logs changes for an operator: the adapter in use, and a problem's beginning and end.
    func report(_ state: RadioState, after old: RadioState?) {
        reportAdapter(state)
        reportProblem(state.problem, after: old?.problem)
    }

    /// Logs a change of adapter. If the same adapter returns after bluetoothd was away, nothing is
    /// logged.
    private func reportAdapter(_ state: RadioState) {
        guard let adapter = state.adapter, adapter != lastAdapter else { return }
        var metadata: Logger.Metadata = ["adapter": "\(adapter)"]
        if let lastAdapter { metadata["before"] = "\(lastAdapter)" }
        logger.notice("this adapter is used", metadata: metadata)
        lastAdapter = adapter
    }

    private func reportProblem(_ problem: RadioFailure?, after old: RadioFailure?) {
        guard problem?.code != old?.code else { return }
        if let problem {
            logger.warning(
                "the radio has a problem",
                metadata: ["code": "\(problem.code.rawValue)", "what": "\(problem.sentence)"]
            )
        } else if let old {
            logger.notice("the radio works again", metadata: ["after": "\(old.code.rawValue)"])
        }
    }
}
