import Logging
import Radio

extension BlueZRadio {
    /// Logs what is news to an operator: the adapter that is used, what is wrong and for how long.
    func report(_ state: RadioState, after old: RadioState?) {
        reportAdapter(state)
        reportProblem(state.problem, after: old?.problem)
    }

    /// One that comes back after bluetoothd was away is no news.
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
