/// The content of an advertisement that a radio received, before it is known to be ours.
package struct HeardAdvertisement: Equatable, Sendable {
    /// The service data under our UUID, if there was any in this report.
    package var serviceData: [UInt8]?

    /// A Boolean that is true if our UUID is among the advertised service UUIDs.
    package var listsService: Bool

    /// The local name, if it was sent in this scan (never a name remembered from an earlier one).
    package var localName: String?

    package init(serviceData: [UInt8]? = nil, listsService: Bool = false, localName: String? = nil)
    {
        self.serviceData = serviceData
        self.listsService = listsService
        self.localName = localName
    }

    /// Decides if this advertisement is one of ours.
    ///
    /// In this order: service data of exactly ten hex digits; else our UUID beside a local name of
    /// exactly ten hex digits (an iPhone cannot send service data); else not ours. A name without
    /// the UUID is never accepted. Service data that is not an EID belongs to another product: the
    /// name is then ignored.
    package func recognise() -> Recognition {
        if let serviceData {
            if let eid = EID(hex: serviceData) { return .ours(eid, .serviceData) }
            if serviceData.starts(with: [0x02, 0x00]) { return .ignored(.tile) }
            return .ignored(serviceData.count == EID.length ? .charset : .length)
        }
        guard listsService, let localName else { return .ignored(.noService) }
        if let eid = EID(localName) { return .ours(eid, .localName) }
        return .ignored(localName.utf8.count == EID.length ? .charset : .length)
    }

    /// The outcome of `recognise()`.
    package enum Recognition: Equatable, Sendable {
        case ours(EID, Sighting.Carrier)
        case ignored(IgnoredReason)
    }
}

/// The reason why an advertisement is not one of ours. Counted, never fatal.
package enum IgnoredReason: String, CaseIterable, Codable, Sendable {
    /// A Tile's service data, which begins `02 00` and is as long as an EID.
    case tile
    /// Service data or a name under our UUID whose length is not an EID's.
    case length
    /// The right length, but not hex digits.
    case charset
    /// No service data under our UUID, and no local name together with it.
    case noService = "no_service"
}
