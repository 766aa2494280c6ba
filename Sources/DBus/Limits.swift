/// The limits of one connection, and what happens at each.
package struct Limits: Sendable {
    /// Calls that await their reply on the bus. The system bus refuses more than 128 per connection
    /// (dbus-daemon's `max_replies_per_connection`); further calls wait their turn here.
    var callsInFlight = 100
    /// Calls that wait their turn; a further one fails with `overloaded`.
    var callsWaiting = 4096
    /// Bytes that libdbus holds because the bus does not read; a further message fails with
    /// `overloaded`.
    var outgoingBytes = 4 << 20
    /// A larger message ends the connection: libdbus disconnects.
    var messageBytes = 32 << 20
    /// Calls of our own objects that are being answered; a further one is refused.
    var callsServed = 256
    /// Subscriptions; a further one fails with `overloaded`.
    var subscriptions = 256

    /// A Boolean that is true if signals that come by the hundred may gather unread for
    /// `ReadingPace.pause`.
    package var gathersSignals = false

    package init() {}
}
