package import GotchuCore

/// The actual state of a radio, which may temporarily differ from the requested one.
package struct RadioState: Equatable, Sendable {
    /// The adapter in use (`hci0`); `nil` while there is none.
    package var adapter: String?
    /// The adapter's own address, for display. Advertisements never contain it.
    package var address: String?
    /// BlueZ's version, such as `5.66`, if the radio is BlueZ and reports it.
    package var bluezVersion: String?
    package var isScanning = false
    /// A Boolean that is true while listening is wanted.
    package var isListeningWanted = false
    /// The transport over which sightings are received; `nil` if there is no choice.
    package var transport: RadioTransport?
    /// The reason, in one sentence, why the wanted transport is not used.
    package var transportNote: String?
    /// A Boolean that is true if a better transport worked before and has failed.
    package var isTransportDegraded = false
    package var advertising: Set<EID> = []
    /// The number of EIDs that the adapter can have on the air at once, if reported.
    package var advertisingCapacity: Int?
    /// The reason why the radio is not in the requested state; `nil` if it is.
    package var problem: RadioFailure?
    /// The number of recovery actions so far.
    package var recovery = RecoveryCounts()

    package init(adapter: String? = nil, problem: RadioFailure? = nil) {
        self.adapter = adapter
        self.problem = problem
    }
}
