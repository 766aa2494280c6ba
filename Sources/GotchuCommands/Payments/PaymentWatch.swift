import ArgumentParser
import GotchuAPI
import GotchuCore
import LocalAPI
import Synchronization

/// Shows a payment to its payer until its end.
final class PaymentWatch: Sendable {
    private static let frameInterval = Duration.milliseconds(100)

    private let output: Output
    private let start: ContinuousClock.Instant
    private let isRest: Bool
    private let latest: Mutex<PaymentView>

    /// - Parameters:
    ///   - start: The time at which the payer confirmed.
    ///   - isRest: True for a refund of all that was not refunded yet.
    init(
        payment: PaymentView,
        since start: ContinuousClock.Instant,
        isRest: Bool = false,
        output: Output
    ) {
        self.output = output
        self.start = start
        self.isRest = isRest
        latest = Mutex(payment)
    }

    /// Follows the payment to its end and prints the outcome. Throws if the final state is not
    /// `paid`. After `limit` or Ctrl-C, cancels a payment that was not sent yet.
    func finish(_ client: LocalClient, limit: Duration) async throws {
        let outcome = try await race(limit: limit) {
            do {
                try await self.waitForEnd(client)
            } catch let failure as LocalClientFailure {
                let what = self.latest.withLock { $0.kind == nil ? "payment" : "refund" }
                self.output.message("The \(what) may still be made: see gotchu-ctl history first.")
                throw failure
            }
        }
        switch outcome {
        case .finished: break
        case .timedOut, .interrupted: await cancel(client)
        }
        let payment = latest.withLock { $0 }
        switch payment.state {
        case .paid:
            guard !output.isJSON else { return try output.json(payment) }
            output.line(paidText(payment))
            if payment.wasMadeBefore == true, await isRefundable(client) {
                output.message("To refund the same amount again, give another --reference.")
            }
        case .declined:
            throw CommandFailure.about(payment, await declined(payment, client))
        case .locking, .sending, .unknown:
            throw CommandFailure.about(payment, unfinished(payment))
        }
    }

    /// Returns false if nothing is left to refund, as far as gotchud knows.
    private func isRefundable(_ client: LocalClient) async -> Bool {
        let refund = latest.withLock { $0 }
        guard !isRest else { return false }
        guard let request = try? await client.request(refund.sid) else { return true }
        let refunded = max(refund.amount.total.minorUnits, request.refundedCents ?? 0)
        return refunded < request.amount.total.minorUnits
    }

    /// Cancels a payment that was not sent yet; a refund goes on. Stores the newest view in
    /// `latest`.
    private func cancel(_ client: LocalClient) async {
        let payment = latest.withLock { $0 }
        guard payment.state == .locking, payment.kind == nil else { return }
        do {
            _ = apply(try await client.cancelPayment(payment.id))
        } catch {
            if let now = try? await client.payment(payment.id) { _ = apply(now) }
        }
    }

    private func declined(_ payment: PaymentView, _ client: LocalClient) async -> CommandFailure {
        let code = payment.code.flatMap(ErrorCode.init(rawValue:))
        if code == .insufficientWalletBalance, payment.kind == nil,
            let shortage = await self.shortage(for: payment, client)
        {
            return .negative("Not paid: \(shortage.sentence)", next: shortage.fix)
        }
        let sentence =
            "\(payment.kind == nil ? "Not paid" : "Not refunded"): \(payment.detail.printable)"
        if code == .forbidden {
            let next = payment.kind == nil ? DeviceAdvice.spend : "gotchu-ctl history"
            return .forbidden(sentence, next: next)
        }
        return .negative(
            sentence,
            next: payment.nextStep?.printable ?? code?.defaultFix ?? "gotchu-ctl scan"
        )
    }

    /// Returns what the wallet lacks for the payment; `nil` if it cannot be read, or holds enough
    /// by now.
    private func shortage(for payment: PaymentView, _ client: LocalClient) async -> Shortage? {
        guard let wallet = try? await client.wallet() else { return nil }
        return Shortage(asked: payment.amount.total, held: wallet.available)
    }

    private func unfinished(_ payment: PaymentView) -> CommandFailure {
        if payment.state == .locking || payment.state == .unknown, payment.code != nil {
            // The server's answer has a code: the person must read its text.
            return .tryAgain(
                payment.detail.printable,
                next: payment.nextStep?.printable ?? "gotchu-ctl history"
            )
        }
        if payment.kind == .refund {
            return .tryAgain(
                "It is not known yet whether \(payment.amount) was refunded. gotchud keeps asking "
                    + "with the same key, which cannot refund twice.",
                next: "gotchu-ctl history"
            )
        }
        let what =
            switch payment.state {
            case .unknown: "It is not known yet whether \(payment.amount) was paid"
            case .locking, .sending, .paid, .declined: "The payment of \(payment.amount) goes on"
            }
        return .tryAgain(
            "\(what). gotchud keeps asking with the same key, which cannot charge twice: do not "
                + "pay again before you know.",
            next: "gotchu-ctl history"
        )
    }

    private func waitForEnd(_ client: LocalClient) async throws {
        try await output.live(every: Self.frameInterval, isKept: false) {
            let width = self.output.data.size?.columns ?? Int.max
            return [self.progressText(self.latest.withLock { $0 }).truncated(to: width)]
        } during: {
            try await self.follow(client)
        }
    }

    private func follow(_ client: LocalClient) async throws {
        let id = latest.withLock { $0.id }
        if latest.withLock({ $0.state.isFinal }) { return }
        let follower = EventFollower(client: client, output: output, wasReached: true)
        _ = try await follower.follow { event -> Bool? in
            switch event {
            case .snapshot(let snapshot):
                let listed = snapshot.payments.first { $0.id == id }
                let now = if let listed { listed } else { try await client.payment(id) }
                return self.apply(now)
            case .paymentChanged(let payment) where payment.id == id:
                return self.apply(payment)
            case .paymentChanged, .statusChanged, .presenceChanged, .presenceLost,
                .requestChanged, .lagged:
                return nil
            }
        }
    }

    /// Stores the newest view. Prints a new state if there is no live region. Returns true if the
    /// view is the last one, otherwise `nil`.
    private func apply(_ payment: PaymentView) -> Bool? {
        let before = latest.withLock { latest in
            defer { latest = payment }
            return latest.state
        }
        if before != payment.state, !payment.state.isFinal, !output.isLive {
            output.message(progressText(payment))
        }
        return payment.state.isFinal ? true : nil
    }

    private func progressText(_ payment: PaymentView) -> String {
        switch payment.state {
        case .locking: payment.nextStep == nil ? "Locking the request …" : payment.detail.printable
        case .sending:
            payment.kind == nil
                ? "Paying \(payment.amount) …" : "Refunding \(payment.amount) …"
        case .unknown:
            payment.code == nil
                ? "The server did not answer; asking again for the outcome …"
                : payment.detail.printable
        case .paid, .declined: payment.detail.printable
        }
    }

    private func paidText(_ payment: PaymentView) -> String {
        if payment.wasMadeBefore == true {
            // The balance in the reply is as old as the first refund, so it is not printed.
            return output.data.paint(payment.detail.printable, .green)
        }
        let balance = payment.newBalanceCents.map {
            " · balance \(Money(minorUnits: $0, currency: payment.currency))"
        }
        if payment.kind == .refund {
            return output.data.paint("Refunded \(payment.amount)", .green) + (balance ?? "")
        }
        return output.data.paint("Paid \(payment.amount)", .green)
            + " to \(payment.payee.quotedName) · \(start.duration(to: .now).tookText)"
            + (balance ?? "")
    }
}
