package import GotchuCore

/// A radio's state as it is, which may for a while differ from what is wanted of it.
package struct RadioState: Equatable, Sendable {
    /// The adapter in use (`hci0`), or `nil` while there is none.
    package var adapter: String?
    /// The adapter's own address, for people; never on the air while advertising.
    package var address: String?
    /// BlueZ's version, `5.66`, where the radio is BlueZ and says so.
    package var bluezVersion: String?
    package var isScanning = false
    /// A Boolean that is true while the radio is to listen.
    package var isListeningWanted = false
    /// The way that sightings come in; `nil` where there is no choice.
    package var transport: RadioTransport?
    /// The reason why that is not the transport that was wanted, in one sentence.
    package var transportNote: String?
    /// A Boolean that is true after a better transport worked and does no more.
    package var isDemoted = false
    package var advertising: Set<EID> = []
    /// The number of EIDs that the adapter can have on the air at once, if it says so.
    package var advertisingCapacity: Int?
    /// The reason why the radio does not do what is wanted, or `nil` if it does.
    package var problem: RadioFailure?
    /// The work that it took so far to keep it so.
    package var recovery = RecoveryCounts()

    package init(adapter: String? = nil, problem: RadioFailure? = nil) {
        self.adapter = adapter
        self.problem = problem
    }
}
