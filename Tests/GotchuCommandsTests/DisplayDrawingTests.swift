import GotchuAPI
import GotchuCore
import Testing

@testable import GotchuCommands

@Suite("The customer's display on a console")
struct DisplayDrawingTests {
    private func reply(_ state: DisplayState) -> DisplayReply {
        var reply = DisplayReply(
            build: "1",
            state: state,
            language: .german,
            isRightToLeft: false,
            headline: "Handy hierher halten"
        )
        (reply.amount, reply.shop) = ("12,80 €", "Café")
        reply.left = .init(milliseconds: 62_000, totalMilliseconds: 300_000, label: "übrig")
        return reply
    }

    private func text(_ reply: DisplayReply, _ age: Duration) -> String {
        DisplayDrawing(reply, age: age).frame(on: Terminal(descriptor: -1))
            .joined(separator: "\n")
    }

    @Test("The remaining time runs down between two replies")
    func countdown() {
        #expect(text(reply(.waiting), .zero).contains("1:02 übrig"))
        #expect(text(reply(.waiting), .seconds(4)).contains("0:58 übrig"))
    }

    @Test("A console without replies for 12 seconds shows that it is offline")
    func silence() {
        let before = text(reply(.waiting), .milliseconds(11_999))
        #expect(before.contains("Handy hierher halten"))
        let offline = text(reply(.waiting), .seconds(12))
        #expect(offline.contains("Bitte warten") && offline.contains("12,80 €"))
        #expect(!offline.contains("übrig") && !offline.contains("Handy"))
        var both = reply(.waiting)
        both.second = .init(language: .english, text: "Hold your phone here")
        #expect(text(both, .seconds(12)).contains("Please wait"))
        let closed = text(reply(.waiting), .seconds(72))
        #expect(closed.contains("Zurzeit keine Handyzahlung") && !closed.contains("12,80 €"))
    }

    @Test("The amount of a payment that has ended is not shown while the console is offline")
    func ended() {
        for state in [DisplayState.paid, .expired, .cancelled, .unavailable] {
            #expect(!text(reply(state), .seconds(12)).contains("12,80 €"), "\(state)")
        }
        #expect(text(reply(.checking), .seconds(12)).contains("12,80 €"))
    }
}
