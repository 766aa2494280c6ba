/// One advertisement of ours that was heard.
package struct Sighting: Hashable, Sendable {
    /// When it was heard, by the listening radio's clock.
    package let time: MonotonicTime

    /// Which EID it carried.
    package let eid: EID

    /// Where in the advertisement the EID stood.
    package let carrier: Carrier

    /// How strongly it was heard; `nil` if the controller did not say.
    package let rssi: RSSI?

    /// The adapter that heard it, by BlueZ's name (`hci0`) or the simulated radio's.
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

    /// Where an EID stands in an advertisement.
    package enum Carrier: String, Codable, Sendable {
        /// Service data under our UUID: a kiosk, or an Android phone.
        case serviceData = "service_data"

        /// The local name beside our UUID: an iPhone, which cannot send service data.
        case localName = "local_name"
    }
}
