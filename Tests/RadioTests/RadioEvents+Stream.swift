import Radio

extension RadioEvents {
    /// Everything from now on, for a test that takes its time.
    func stream() -> AsyncStream<RadioEvent> {
        let (stream, output) = AsyncStream<RadioEvent>.makeStream()
        listen { output.yield($0) }
        return stream
    }
}
