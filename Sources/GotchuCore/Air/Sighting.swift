/// A received advertisement of ours.
package struct Sighting: Hashable, Sendable {
    /// The time at which it was heard, by the listening radio's clock.
    package let time: MonotonicTime

    /// The EID that it carried.
    package let eid: EID

    /// The part of the advertisement that held the EID.
    package let carrier: Carrier

    /// The received level; `nil` if the controller did not report one.
    package let rssi: RSSI?

    /// The adapter that heard it: BlueZ's name (`hci0`) or the simulated radio's.
    package let adapter: String

    package init(
        time: MonotonicTime,
        eid: EID,
        carrier: Carrier,
        rssi: RSSI?,
        adapter: String
    ) {
        self.time = time
        self.eid = eid
        self.carrier = carrier
        self.rssi = rssi
        self.adapter = adapter
    }

    /// The part of an advertisement that holds an EID.
    package enum Carrier: String, Codable, Sendable {
        /// Service data under our UUID: a kiosk, or an Android phone.
        case serviceData = "service_data"

        /// The local name beside our UUID: an iPhone, which cannot send service data.
        case localName = "local_name"
    }
}
