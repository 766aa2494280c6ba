internal import GotchuCore
internal import Postgres

/// Writing what was answered to keys.
extension PostgreSQLSave {
    var sends: [Query] {
        let sends = effects.newSends
        guard !sends.isEmpty else { return [] }
        return [
            Query(
                """
                INSERT INTO sends (\(Columns.send)) SELECT * FROM unnest(
                    $1::text[], $2::text[], $3::bytea[], $4::text[], $5::text[], $6::bigint[],
                    $7::text[], $8::bigint[], $9::text[], $10::bigint[], $11::bigint[]
                )
                """,
                [
                    .texts(sends.map(\.key.user.rawValue)), .texts(sends.map(\.key.key.rawValue)),
                    .byteStrings(sends.map(\.fingerprint.bytes)),
                    .texts(sends.map(\.session.rawValue)), .texts(sends.map(\.requestID)),
                    .integers(sends.map(\.decidedAt.milliseconds)),
                    .texts(sends.map(\.outcome.transfer?.rawValue)),
                    .integers(sends.map(\.outcome.newBalance)),
                    .texts(sends.map(\.outcome.refusal?.reason.rawValue)),
                    .integers(sends.map(\.outcome.refusal?.required)),
                    .integers(sends.map(\.outcome.refusal?.available)),
                ]
            )
        ]
    }

    var refunds: [Query] {
        let refunds = effects.newRefunds
        guard !refunds.isEmpty else { return [] }
        return [
            Query(
                """
                INSERT INTO refunds (\(Columns.refund)) SELECT * FROM unnest(
                    $1::text[], $2::text[], $3::bytea[], $4::text[], $5::text[], $6::bigint[],
                    $7::text[], $8::bigint[], $9::bigint[], $10::bigint[], $11::text[],
                    $12::bigint[], $13::bigint[]
                )
                """,
                [
                    .texts(refunds.map(\.key.user.rawValue)),
                    .texts(refunds.map(\.key.key.rawValue)),
                    .byteStrings(refunds.map(\.fingerprint.bytes)),
                    .texts(refunds.map(\.session.rawValue)), .texts(refunds.map(\.requestID)),
                    .integers(refunds.map(\.decidedAt.milliseconds)),
                    .texts(refunds.map(\.outcome.made?.transfer.rawValue)),
                    .integers(refunds.map(\.outcome.made?.amount)),
                    .integers(refunds.map(\.outcome.made?.total)),
                    .integers(refunds.map(\.outcome.made?.newBalance)),
                    .texts(refunds.map(\.outcome.refusal?.reason.rawValue)),
                    .integers(refunds.map(\.outcome.refusal?.required)),
                    .integers(refunds.map(\.outcome.refusal?.available)),
                ]
            )
        ]
    }
}

extension RememberedSend.Outcome {
    fileprivate var transfer: TransferID? { if case .paid(let id, _) = self { id } else { nil } }

    fileprivate var newBalance: Int64? {
        if case .paid(_, let balance) = self { balance } else { nil }
    }

    fileprivate var refusal: Refusal? {
        if case .declined(let refusal) = self { refusal } else { nil }
    }
}

extension RememberedRefund.Outcome {
    fileprivate var made: RememberedRefund.Made? {
        if case .refunded(let made) = self { made } else { nil }
    }

    fileprivate var refusal: Refusal? {
        if case .declined(let refusal) = self { refusal } else { nil }
    }
}
