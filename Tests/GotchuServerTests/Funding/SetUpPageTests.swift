import Foundation
import GotchuCore
import Ledger
import StripeTestSupport
import TestSupport
import Testing

@testable import GotchuServer

/// Tests of the pages on which payees with a ticket set up payouts.
@Suite("Invitations of payees")
struct SetUpPageTests {
    private static let site = "http://127.0.0.1:1"

    private static func path(_ text: String) throws -> String {
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix(Self.site) })
        return String(line.dropFirst(Self.site.count))
    }

    /// Opens a page of the stand-in; returns the target if the page redirects.
    private static func redirect(of address: String, _ rig: FundingRig) async throws -> String? {
        let path = String(address.dropFirst(rig.standIn.address.count))
        return try await Browser(Wire(base: rig.standIn.address)).open(path).location
    }

    @Test("An invited payee can open the page several times, and get a new link for a used one")
    func invited() async throws {
        try await FundingRig.with { rig in
            let payee = try await rig.wire().login("payee")
            let invited = try await rig.runSecretly(["payees", "invite", "payee@shop.example"])
            #expect(invited.code == 0, "\(invited.text)")
            let path = try Self.path(invited.text)
            let browser = Browser(await rig.wire())
            for _ in 0..<2 {
                let page = try await browser.open(path)
                #expect(page.status == 200 && page.title == "Set up payouts", "\(page.text)")
            }
            // Opening the page creates nothing.
            #expect(try await rig.count("accounts") == 0)
            let ticket = try #require(try await browser.open(path).field("ticket"))
            let sent = try await browser.send("/connect/start", ["ticket": ticket])
            let link = try #require(sent.location, "\(sent.text)")
            #expect(sent.status == 303 && link.contains("/setup/e/"))
            // The first visit uses up the link. A second visit redirects to a page that makes a new
            // link.
            #expect(try await Self.redirect(of: link, rig) == nil)
            let back = try #require(try await Self.redirect(of: link, rig))
            let again = try Self.path(back)
            #expect(again.hasPrefix("/connect/refresh?ticket="))
            let renewal = try #require(try await browser.open(again).field("ticket"))
            let fresh = try await browser.send("/connect/refresh", ["ticket": renewal])
            #expect(fresh.status == 303 && fresh.location != link, "\(fresh.text)")
            #expect(try await rig.count("accounts") == 1)
            // A ticket for one page is invalid for the other page.
            for (page, ticket) in [("start", renewal), ("refresh", ticket), ("start", "x.1.y")] {
                let refused = try await browser.send("/connect/\(page)", ["ticket": ticket])
                #expect(refused.status == 403, "\(refused.text)")
                let looked = try await browser.open("/connect/\(page)?ticket=\(ticket)")
                #expect(looked.title == "That link was used, or is too old")
            }
            _ = try await rig.onboard(payee)
            for (page, ticket) in [("start", ticket), ("refresh", renewal)] {
                let done = try await browser.send("/connect/\(page)", ["ticket": ticket])
                #expect(done.status == 403 && done.text.contains("set up already"), "\(done.text)")
            }
        }
    }

    @Test("A ticket is valid until it expires, with the same server's key, and if it is unchanged")
    func tickets() throws {
        let own = LocalTokenIssuer(Secret(bytes: [UInt8](repeating: 1, count: 32)))
        let other = LocalTokenIssuer(Secret(bytes: [UInt8](repeating: 2, count: 32)))
        let key = PayeeTicket.key(of: own)
        let user = UserID(trusted: "<https://id.example>ann.lee")
        let ways: [(PayeeTicket.Purpose, seconds: Int)] = [
            (.invitation, 604_800), (.renewal, 3_600), (.invitedRenewal, 3_600),
        ]
        for (purpose, seconds) in ways {
            let start = Timestamp(milliseconds: 1_900_000_000_123)
            let path = PayeeTicket(for: user, purpose, at: start).path(by: key)
            let text = try #require(path.split(separator: "=").last.map(String.init))
            func ticket(_ text: String, after seconds: Int, by key: LocalTokenIssuer = own)
                -> PayeeTicket?
            {
                let time = start.advanced(by: .seconds(seconds))
                return PayeeTicket(text, for: purpose, by: PayeeTicket.key(of: key), at: time)
            }
            #expect(ticket(text, after: 0)?.user == user)
            #expect(ticket(text, after: seconds - 1)?.user == user)
            #expect(ticket(text, after: seconds) == nil)
            #expect(ticket(text, after: 0, by: other) == nil)
            let parts = text.split(separator: ".").map(String.init)
            let later = "\(parts[0]).\((Int64(parts[1]) ?? 0) + 1).\(parts[2])"
            let thief = "\(Base64URL.encode("thief".utf8)).\(parts[1]).\(parts[2])"
            for wrong in [later, thief, "", "..", text + ".", "a.b.c", "\(text)x"] {
                #expect(ticket(wrong, after: 0) == nil, "\(wrong)")
            }
        }
    }

    @Test(
        "A repeated renewal of a ticket keeps the purpose and the expiry of the first renewal"
    )
    func renewals() {
        let start = Timestamp(milliseconds: 1_900_000_000_123)
        let user = UserID(trusted: "ann")
        let login = PayeeTicket(for: user, .renewal, at: start)
        let late = login.renewed(at: start.advanced(by: .seconds(3_000)))
        #expect(late.purpose == .renewal && late.expiresAt == login.expiresAt)
        let invitation = PayeeTicket(for: user, .invitation, at: start)
        let first = invitation.renewed(at: start)
        #expect(first.purpose == .invitedRenewal)
        #expect(first.expiresAt == start.advanced(by: .seconds(3_600)))
        let second = first.renewed(at: start.advanced(by: .seconds(60)))
        #expect(second.purpose == .invitedRenewal && second.expiresAt == first.expiresAt)
    }
}
