import ServiceProcess

extension ExitStatus {
    /// The meaning of the status in `gotchu-ctl`.
    var meaning: String {
        switch self {
        case .done: "done, or ready"
        case .negative: "a valid negative answer: declined, expired, not ready, nothing heard"
        case .usage: "the command line is wrong: a command, options, or a number, time or word"
        case .badData: "an amount, an id, a text or a file has the wrong form, or is not accepted"
        case .unavailable: "gotchud is not running, or stopped while it was asked"
        case .bug: "a bug in gotchu"
        case .inputOutput: "a disk, a file or the Bluetooth radio failed"
        case .tryAgain: "not in time, or the payment server cannot be reached: try again"
        case .apiMismatch: "gotchud speaks another version of the socket's contract"
        case .notPermitted: "this user may not do that"
        case .configuration: "a configuration or a login is missing or not valid"
        case .interrupted: "ended by Ctrl-C or another signal before it was done"
        }
    }
}
