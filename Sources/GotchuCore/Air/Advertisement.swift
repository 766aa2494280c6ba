/// The content of an advertisement that a radio received, before it is known to be ours.
package struct HeardAdvertisement: Equatable, Sendable {
    /// The service data under our UUID; `nil` if this report had none.
    package var serviceData: [UInt8]?

    /// A Boolean that is true if our UUID is among the advertised service UUIDs.
    package var listsService: Bool

    /// The local name in this report; `nil` if it had none. A name from an earlier scan is not
    /// used.
    package var localName: String?

    package init(serviceData: [UInt8]? = nil, listsService: Bool = false, localName: String? = nil)
    {
        self.serviceData = serviceData
        self.listsService = listsService
        self.localName = localName
    }

    /// Decides if this advertisement is one of ours.
    ///
    /// The rules, in this order:
    ///
    /// - Service data under our UUID decides alone. Ten hex digits are our EID. Anything else
    ///   belongs to another product.
    /// - Without service data, our UUID and a local name are needed together. A name of ten hex
    ///   digits is our EID: an iPhone cannot send service data.
    /// - Anything else is ignored.
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

/// The reason why an advertisement is not one of ours. Ignored advertisements are only counted.
package enum IgnoredReason: String, CaseIterable, Codable, Sendable {
    /// Service data that begins `02 00`, as that of a Tile does.
    case tile
    /// Service data or a name under our UUID whose length is not an EID's.
    case length
    /// The right length, but not hex digits.
    case charset
    /// Neither service data under our UUID, nor our UUID together with a local name.
    case noService = "no_service"
}
