import Foundation
import GotchuAPI

@testable import LocalAPI

extension Delivery {
    /// What is in its line; `nil` for a sign of life.
    var event: Event? { try? JSONDecoder().decode(Event.self, from: Data(line)) }
}
