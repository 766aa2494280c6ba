import GotchuCore
import LocalAPI
import Pages
import ServiceProcess

/// The settings of the screens that gotchud serves to browsers on this machine.
struct ScreenSettings: Equatable, Sendable {
    /// The address of the customer's display; `nil` for none.
    var display: LoopbackAddress?
    /// The address of the till; `nil` for none.
    var till: LoopbackAddress?
    /// The path of a picture for the display.
    var logo: String?
    var appearance = DisplayPage.Appearance()
}

extension AntennaPosition: SettingValue {
    package static let rule = "The antenna is below, above, left or right of the display."

    package init?(_ text: String) { self.init(rawValue: text) }
}

extension SettingSyntax<LoopbackAddress> {
    static var screenAddress: Self {
        Self("A screen is served on 127.0.0.1 and a port, such as 127.0.0.1:7465.") { text in
            LoopbackAddress(text).flatMap { $0.host == "127.0.0.1" ? $0 : nil }
        }
    }
}

extension SettingSyntax<String> {
    static var shopName: Self {
        Self("A shop's name has 1 to 40 characters.") { text in
            (1...40).contains(text.count) && text.utf8.count <= 160 ? text : nil
        }
    }
}

extension SettingSyntax<Double> {
    static var textScale: Self {
        Self("The scale of text is 0.8 to 1.6.", form: .number) { text in
            Double(text).flatMap { (0.8...1.6).contains($0) ? $0 : nil }
        }
    }
}

extension SettingSyntax<[Language]> {
    static var languages: Self {
        let codes = Language.allCases.map(\.rawValue).joined(separator: ", ")
        return Self(
            "The display has one or two different languages of \(codes).",
            form: .texts,
            write: { $0.map(\.rawValue).joined(separator: ",") }
        ) { text in
            let parts = text.split(separator: ",", omittingEmptySubsequences: false)
            let languages = parts.compactMap { Language(rawValue: String($0)) }
            guard languages.count == parts.count, (1...2).contains(parts.count),
                Set(languages).count == parts.count
            else { return nil }
            return languages
        }
    }
}
