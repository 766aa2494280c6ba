extension Connection {
    /// Subscribes to signals; returns when the bus has confirmed, so that none sent later is missed.
    ///
    /// - Parameter limit: how many wait for a slow consumer before the oldest are dropped.
    package func subscribe(
        _ rule: MatchRule,
        limit: Int? = nil
    ) async throws(DBusError) -> SignalSubscription {
        guard !isClosed else { throw DBusError(.closed) }
        guard subscriptions.count < limits.subscriptions else {
            throw DBusError(.overloaded, underlying: "\(limits.subscriptions) subscriptions")
        }
        let text = try rule.text()
        let (stream, continuation) = AsyncStream<Signal>.makeStream(
            bufferingPolicy: .bufferingNewest(limit ?? limits.signalsWaiting)
        )
        let subscription = SignalSubscription(
            signals: stream,
            id: makeID(),
            rule: rule,
            drops: DropCount()
        )
        // Before the bus knows of it: the first signal may come right behind the reply.
        subscriptions.insert(
            SubscriptionTable.Entry(
                rule: rule,
                continuation: continuation,
                drops: subscription.drops
            ),
            id: subscription.id
        )
        do {
            _ = try await call(.bus("AddMatch", [.string(text)]), timeout: Self.busTimeout)
        } catch {
            subscriptions.remove(id: subscription.id, rule: rule)?.continuation.finish()
            throw error
        }
        return subscription
    }

    /// Ends a subscription: its stream finishes and the bus forgets the rule. A second call does nothing.
    package func unsubscribe(_ subscription: SignalSubscription) async {
        let entry = subscriptions.remove(id: subscription.id, rule: subscription.rule)
        guard let entry else { return }
        entry.continuation.finish()
        guard let text = try? subscription.rule.text() else { return }
        // The bus counts equal rules, so this removes ours alone. If it fails, the connection is ending.
        _ = try? await call(.bus("RemoveMatch", [.string(text)]), timeout: Self.busTimeout)
    }

    /// Follows who owns a name: first the owner now, then each change (`nil` while nobody does).
    ///
    /// No change is missed between the two: the changes are subscribed to first.
    package func owners(of name: String) async throws(DBusError) -> NameOwners {
        let subscription = try await subscribe(
            MatchRule(
                sender: Bus.name,
                path: Bus.path,
                interface: Bus.name,
                member: "NameOwnerChanged",
                firstArgument: name
            )
        )
        do {
            return NameOwners(first: try await owner(of: name), subscription: subscription)
        } catch {
            await unsubscribe(subscription)
            throw error
        }
    }
}

/// Who owns a name on the bus, as it changes. Finishes with the connection.
package struct NameOwners: Sendable {
    /// The owner at the start.
    package let first: String?
    package let subscription: SignalSubscription

    /// The owner that a change left behind, `nil` for none.
    ///
    /// - Returns: `nil` if the signal is not the bus's `NameOwnerChanged`.
    package static func newOwner(in signal: Signal) -> String?? {
        guard signal.sender == Bus.name, signal.member == "NameOwnerChanged",
            signal.arguments.count == 3, let owner = signal.arguments[2].asString
        else { return nil }
        return .some(owner.isEmpty ? nil : owner)
    }
}
