package import GotchuCore

/// A page of contests: the answer to `GET /api/contests`.
package struct ContestList: Codable, Hashable, Sendable {
    package var contests: [ContestCard]
    package var contract: Int = 1
    package var limit: WireCount
    package var nextCursor: String?
    package var page: WireCount?
    package var totalCount: WireCount

    package init(
        contests: [ContestCard],
        limit: WireCount,
        nextCursor: String?,
        page: WireCount?,
        totalCount: WireCount
    ) {
        self.contests = contests
        self.limit = limit
        self.nextCursor = nextCursor
        self.page = page
        self.totalCount = totalCount
    }

    enum CodingKeys: String, CodingKey {
        case contests, contract, limit
        case nextCursor = "next_cursor"
        case page
        case totalCount = "total_count"
    }
}

/// A contest in a list.
package struct ContestCard: Codable, Hashable, Sendable {
    package var display: Display
    package var entry: Entry
    package var id: WireUUID
    package var presentation: Presentation
    package var state: ContestState
    package var timing: Timing
    package var type: String
    package var version: WireCount

    package struct Display: Codable, Hashable, Sendable {
        package var title: String
        package var subtitle: String
        package var badge: String
        package var statusLabel: String

        package init(title: String, subtitle: String, badge: String, statusLabel: String) {
            self.title = title
            self.subtitle = subtitle
            self.badge = badge
            self.statusLabel = statusLabel
        }

        enum CodingKeys: String, CodingKey {
            case badge
            case statusLabel = "status_label"
            case subtitle, title
        }
    }

    package struct Entry: Codable, Hashable, Sendable {
        package var currency: Currency
        package var currentEntries: WireCount
        package var entryFeeCents: WireCount
        package var maxEntries: WireCount

        package init(
            currency: Currency,
            currentEntries: WireCount,
            entryFeeCents: WireCount,
            maxEntries: WireCount
        ) {
            self.currency = currency
            self.currentEntries = currentEntries
            self.entryFeeCents = entryFeeCents
            self.maxEntries = maxEntries
        }

        enum CodingKeys: String, CodingKey {
            case currency
            case currentEntries = "current_entries"
            case entryFeeCents = "entry_fee_cents"
            case maxEntries = "max_entries"
        }
    }

    package struct Presentation: Codable, Hashable, Sendable {
        package var heroImageURL: String
        package var icon: String
        package var primaryColor: String

        package init(heroImageURL: String, icon: String, primaryColor: String) {
            self.heroImageURL = heroImageURL
            self.icon = icon
            self.primaryColor = primaryColor
        }

        enum CodingKeys: String, CodingKey {
            case heroImageURL = "hero_image_url"
            case icon
            case primaryColor = "primary_color"
        }
    }

    package struct Timing: Codable, Hashable, Sendable {
        package var completesAt: Nullable<WireTime>
        package var locksAt: WireTime
        package var startsAt: WireTime

        package init(completesAt: Timestamp?, locksAt: Timestamp, startsAt: Timestamp) {
            self.completesAt = Nullable(completesAt.map(WireTime.init))
            self.locksAt = WireTime(locksAt)
            self.startsAt = WireTime(startsAt)
        }

        enum CodingKeys: String, CodingKey {
            case completesAt = "completes_at"
            case locksAt = "locks_at"
            case startsAt = "starts_at"
        }
    }

    package init(
        id: WireUUID,
        type: String,
        state: ContestState,
        display: Display,
        timing: Timing,
        entry: Entry,
        presentation: Presentation,
        version: WireCount
    ) {
        self.id = id
        self.type = type
        self.state = state
        self.display = display
        self.timing = timing
        self.entry = entry
        self.presentation = presentation
        self.version = version
    }
}
