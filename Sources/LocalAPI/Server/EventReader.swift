/// What one reader of the hub gets, in order.
struct EventReader: AsyncSequence, Sendable {
    private let stream: AsyncStream<Delivery>
    private let output: AsyncStream<Delivery>.Continuation

    init(stream: AsyncStream<Delivery>, output: AsyncStream<Delivery>.Continuation) {
        self.stream = stream
        self.output = output
    }

    func makeAsyncIterator() -> AsyncStream<Delivery>.Iterator { stream.makeAsyncIterator() }

    /// Ends it behind what waits already.
    func end() { output.finish() }
}
