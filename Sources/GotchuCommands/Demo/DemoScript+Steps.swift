import GotchuAPI
import GotchuCore
import LocalAPI
import Subprocess
import SystemPackage

extension DemoScript {
    /// The payer's distance at each step of the walk, in metres.
    private static let walk = [2.5, 1.0, 0.5, 0.05]
    /// The time that the payer stays at each distance.
    private static let stride = Duration.milliseconds(500)
    /// The interval at which a withdrawal is polled.
    private static let pause = Duration.milliseconds(100)
    /// The most bytes of the output of `verify` that are read.
    private static let proofLimit = 64 * 1024

    /// Makes the kiosk request money.
    func ask() async throws -> RequestView {
        try await output.step {
            let new = NewRequest(amountCents: amount.minorUnits, memo: "Demo")
            let request = try await kiosk.createRequest(new)
            return (request, "The kiosk requests \(request.amount) and advertises \(request.eid)")
        }
    }

    /// Checks that a payment from a distance is refused. Then moves the payer to the kiosk.
    func approach(_ request: RequestView, _ child: DemoChild) async throws {
        try await output.step {
            let seen = try await verdict(.far, of: request.eid) { _ in }
            return ((), "From 5 m the payer hears it at \(Self.level(seen)): far, not payable")
        }
        try await output.step {
            do {
                _ = try await payer.createPayment(payment(of: request))
            } catch LocalClientFailure.problem(let problem) where problem.errorCode == .notNear {
                return ((), "The payer tries all the same and is refused: \(problem.detail)")
            }
            throw Self.failure("A payment from 5 m was not refused.")
        }
        try await output.step {
            let seen = try await withThrowingTaskGroup(of: PresenceView?.self) { group in
                group.addTask {
                    for distance in Self.walk {
                        try environment.move(child, to: distance)
                        // The time of a person's step: the level filter then receives levels at
                        // each distance.
                        try await Task.sleep(for: Self.stride)
                    }
                    return nil
                }
                group.addTask {
                    try await verdict(.tap, of: request.eid) { presence in
                        output.detail("\(presence.verdict) at \(Self.level(presence))")
                    }
                }
                defer { group.cancelAll() }
                while let seen = try await group.next() {
                    if let seen { return seen }
                }
                throw CancellationError()
            }
            return ((), "The payer holds the device to the kiosk: tap at \(Self.level(seen))")
        }
    }

    /// Shows the amount and the payee to the payer, and pays.
    func pay(_ request: RequestView) async throws {
        let session = try await output.step {
            let session = try await payer.resolve(request.eid)
            guard session.amount == amount else {
                throw Self.failure("The server names \(session.amount), not \(amount).")
            }
            return (session, "The server says: \(session.amount) to \(session.payee)")
        }
        try await output.step {
            var new = payment(of: request)
            new.sid = session.sid
            new.confirmPayee = session.payee
            let started = try await payer.createPayment(new)
            let follower = EventFollower(client: payer, output: Output(isJSON: true))
            let end = try await follower.follow { event -> PaymentView? in
                event.payments.first { $0.id == started.id && $0.state.isFinal }
            }
            guard end.state == .paid else { throw Self.failure("Not paid: \(end.detail)") }
            return ((), "The payer has PAID \(end.amount)")
        }
    }

    /// Checks that the kiosk learns of the payment, and checks the balances. Then makes a deposit
    /// and a withdrawal, and verifies the ledger.
    func settle(_ request: RequestView) async throws {
        try await output.step {
            let condition = WaitCondition.paid(request.id.rawValue)
            let follower = EventFollower(client: kiosk, output: Output(isJSON: true))
            let truth = try await follower.follow { event -> WaitCondition.Evaluation? in
                let truth = condition.evaluate(event, list: PresenceList())
                return truth == .pending ? nil : truth
            }
            guard truth == .holds else { throw Self.failure("The kiosk was not told: \(truth)") }
            return ((), "The kiosk is PAID \(request.amount) and off the air")
        }
        try await output.step {
            let opening = DemoEnvironment.openingBalance
            let till = try await kiosk.wallet().availableCents.value
            let wallet = try await payer.wallet().availableCents.value
            guard till == opening + amount.minorUnits, wallet == opening - amount.minorUnits
            else { throw Self.failure("The balances are \(till) and \(wallet) cents.") }
            let (earned, left) = (Money(minorUnits: till), Money(minorUnits: wallet))
            return ((), "Balances: the kiosk has \(earned), the payer \(left)")
        }
        try await moveMoney()
        try await output.step {
            for line in try await proof() { output.detail(line) }
            return ((), "The ledger proves that its books add up")
        }
    }

    /// Deposits to the payer's wallet and withdraws from the kiosk's, with development money.
    private func moveMoney() async throws {
        try await output.step {
            let deposit = try await payer.openDeposit(
                NewDeposit(amountCents: amount.minorUnits),
                key: .random()
            )
            guard deposit.status == .succeeded else {
                throw Self.failure("The deposit is \(deposit.status.rawValue).")
            }
            return ((), "The payer adds \(amount) to the wallet")
        }
        try await output.step {
            let new = NewWithdrawal(amountCents: amount.minorUnits)
            var view = try await kiosk.withdraw(new, key: .random())
            while view.state == .sending || view.state == .unknown {
                // gotchud has no event for a withdrawal: poll.
                try await Task.sleep(for: Self.pause)
                view = try await kiosk.withdrawal(view.id)
            }
            guard view.withdrawal?.status == .paid else { throw Self.failure(view.detail) }
            return ((), "The kiosk withdraws the \(amount) that it earned to its bank")
        }
    }

    private func payment(of request: RequestView) -> NewPayment {
        NewPayment(
            eid: request.eid,
            confirmAmountCents: amount.minorUnits,
            proximity: .tap
        )
    }

    /// Waits until the payer's daemon reports this verdict for `eid`. Calls `tell` for each earlier
    /// verdict.
    private func verdict(
        _ wanted: Verdict,
        of eid: EID,
        _ tell: @escaping @Sendable (PresenceView) -> Void
    ) async throws -> PresenceView {
        let watch = SharedPresenceList()
        let follower = EventFollower(
            client: payer,
            output: Output(isJSON: true),
            needsPresences: true
        )
        var before: Verdict?
        return try await follower.follow { event in
            for case .seen(let presence) in watch.apply(event) where presence.eid == eid {
                if presence.verdict == wanted { return presence }
                if presence.verdict != before { tell(presence) }
                before = presence.verdict
            }
            return nil
        }
    }

    /// Returns the output of `gotchu-server verify`.
    private func proof() async throws -> [String] {
        let (path, arguments) = environment.verification
        let result = try await Subprocess.run(
            .path(FilePath(path)),
            arguments: Arguments(arguments),
            output: .string(limit: Self.proofLimit),
            error: .combinedWithOutput
        )
        let lines = result.standardOutput.split(separator: "\n").map {
            String($0).replacing("\t", with: "  ").printable
        }
        // An empty output proves nothing.
        guard result.terminationStatus.isSuccess, !lines.isEmpty else {
            throw Self.failure("The books are not proved right: \(lines.last ?? "no word")")
        }
        return lines
    }

    private static func level(_ presence: PresenceView) -> String {
        presence.smoothedDBm.map { "\(Int($0.rounded())) dBm" } ?? "an unknown level"
    }
}
