internal import Ledger

/// Who asks what an EID stands for: a logged-in user, or whoever is at an address.
enum Asker: Hashable, Sendable {
    case address(ClientAddress)
    case user(UserID)
}
