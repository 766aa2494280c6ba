/// The limits of one connection, and the effect of reaching each.
package struct Limits: Sendable {
    /// Calls that await their reply on the bus. The system bus refuses more than 128 per connection
    /// (dbus-daemon's `max_replies_per_connection`); further calls are queued here.
    var callsInFlight = 100
    /// Queued calls; a further one fails with `overloaded`.
    var callsWaiting = 4096
    /// Bytes that libdbus buffers while the bus does not read; a further message fails with
    /// `overloaded`.
    var outgoingBytes = 4 << 20
    /// The largest message; a larger one ends the connection: libdbus disconnects.
    var messageBytes = 32 << 20
    /// Calls to our own objects that are being answered; a further one is refused.
    var inboundCalls = 256
    /// Subscriptions; a further one fails with `overloaded`.
    var subscriptions = 256

    /// A Boolean that is true if signals that arrive by the hundred may be left unread for
    /// `ReadBatching.pause` and then read together.
    package var batchesSignals = false

    package init() {}
}
