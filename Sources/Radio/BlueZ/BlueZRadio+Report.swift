import Logging

extension BlueZRadio {
    /// Says in the log what is news to whoever keeps the machine: the adapter that is used, what is
    /// wrong and for how long, and the way in which is listened.
    func report(_ state: RadioState, after old: RadioState?) {
        reportAdapter(state)
        reportProblem(state.problem, after: old?.problem)
        guard state.transport != old?.transport else { return }
        if state.transport == .monitor {
            logger.info(
                "listening through an advertisement monitor",
                metadata: ["reason": "the kernel refuses a scan while it is busy with another"]
            )
        } else if old?.transport == .monitor {
            logger.info("listening through discovery again")
        }
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
