import Foundation

/// The replies of presentation contract 1, as it declares them.
extension SeedClient {
    enum State: String, Decodable {
        case SCHEDULED, LOCKED, LIVE, COMPLETE, PAID, CANCELLED, ERROR
    }

    struct List: Decodable {
        let contests: [Card]
    }

    struct Card: Decodable {
        let id: String
        let type: String
        let state: State
        let display: Display
        let timing: Timing
        let entry: Entry
        let presentation: Presentation

        struct Display: Decodable {
            let title: String
            let subtitle: String
            let badge: String
            let status_label: String
        }

        struct Timing: Decodable {
            let starts_at: String
            let locks_at: String
            let completes_at: String?
        }

        struct Entry: Decodable {
            let entry_fee_cents: Int
            let currency: String
            let max_entries: Int
            let current_entries: Int
        }

        struct Presentation: Decodable {
            let primary_color: String
            let icon: String
            let hero_image_url: String
        }
    }

    struct Detail: Decodable {
        let id: String
        let type: String
        let state: State
        let display: Display
        let sections: [Section]
        let actions: Actions

        struct Display: Decodable {
            let title: String
            let description: String
            let rules_url: String?
        }

        struct Section: Decodable {
            let type: String
            let data: JSON
        }

        struct Actions: Decodable {
            let can_join: Bool
            let can_edit_roster: Bool
            let can_view_leaderboard: Bool
        }

        /// The rows of the section `payout_table` as text: rank and amount.
        var prizes: [String] {
            let rows = sections.first { $0.type == "payout_table" }?.data.elements ?? []
            return rows.map { "\($0["rank"]?.integer ?? 0) \($0["amount"]?.string ?? "")" }
        }
    }

    struct Leaderboard: Decodable {
        let contest_id: String
        let state: State
        let columns: [Column]
        let rows: [[String: JSON]]

        struct Column: Decodable {
            let key: String
            let label: String
        }
    }
}
