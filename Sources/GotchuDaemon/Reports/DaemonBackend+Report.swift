import GotchuAPI
import GotchuCore
import LocalAPI
import PaymentClient

extension DaemonBackend {
    /// Returns the report of a day. All sums come from the payment server: this machine knows
    /// neither the payments of other tills nor all outcomes of its own.
    func report(day: CalendarDay?, zone: TimeZoneName?) async throws(Problem) -> ReportReply {
        let selection = EarningsSelection(
            day.map { .dates($0...$0) } ?? .period(.today),
            zone: zone
        )
        let earnings = try await self.earnings(selection)
        guard let day = earnings.from, let hours = earnings.parts, let start = hours.first,
            let end = hours.last, let counts = earnings.counts
        else {
            throw Problem(
                .serverUnreachable,
                detail: "The payment server's answer is not a day's report.",
                fix: "Update the payment server."
            )
        }
        let unknown = await unknownItems().filter { start.startsAt.value <= $0.createdAt }
            .filter { $0.createdAt < end.endsAt.value }
        return ReportReply(
            day: day,
            zone: earnings.zone,
            currency: earnings.currency,
            asOf: earnings.asOf.value,
            counts: counts,
            hours: hours,
            unknown: unknown
        )
    }

    private func unknownItems() async -> [ReportReply.UnknownItem] {
        let requests = await requestService.views().filter { $0.state == .unknown }
        let refunds = await paymentService.views()
            .filter { $0.kind == .refund && !$0.state.isFinal }
        return requests.map { request in
            ReportReply.UnknownItem(
                kind: .request,
                id: request.id.description,
                amountCents: request.amountCents,
                currency: request.currency,
                memo: request.memo,
                createdAt: request.createdAt
            )
        }
            + refunds.map { refund in
                ReportReply.UnknownItem(
                    kind: .refund,
                    id: refund.id,
                    amountCents: refund.amountCents,
                    currency: refund.currency,
                    memo: nil,
                    createdAt: refund.createdAt
                )
            }
    }
}
