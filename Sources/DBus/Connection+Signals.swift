extension Connection {
    /// Subscribes to signals that match any of the rules. Returns once the bus has confirmed all
    /// rules: no signal sent later is missed.
    ///
    /// - Parameter onSignal: Receives each signal on the connection's thread as it is read, in the
    ///   order of arrival. Must not block.
    package func subscribe(
        _ rules: [MatchRule],
        onSignal: @escaping @Sendable (Signal) -> Void
    ) async throws(DBusError) -> SignalSubscription {
        guard !isClosed else { throw DBusError(.closed) }
        guard subscriptions.count < limits.subscriptions else {
            throw DBusError(.overloaded, underlying: "\(limits.subscriptions) subscriptions")
        }
        var texts: [String] = []
        for rule in rules { texts.append(try rule.text()) }
        let subscription = SignalSubscription(id: makeID(), rules: rules)
        // Inserted before the bus knows the rules: the first signal may follow the reply
        // immediately.
        subscriptions.insert(
            SubscriptionTable.Entry(rules: rules, onSignal: onSignal),
            id: subscription.id
        )
        do throws(DBusError) {
            for text in texts {
                _ = try await call(.bus("AddMatch", [.string(text)]), timeout: Self.busTimeout)
            }
        } catch {
            await unsubscribe(subscription)
            throw error
        }
        return subscription
    }

    /// Ends a subscription: nothing more is received, and the bus removes the rules. A second call
    /// does nothing.
    package func unsubscribe(_ subscription: SignalSubscription) async {
        guard subscriptions.remove(id: subscription.id, rules: subscription.rules) else { return }
        for rule in subscription.rules {
            guard let text = try? rule.text() else { continue }
            // The bus counts equal rules, so this removes ours alone. A failure means that the
            // connection is ending or that the rule was never added.
            _ = try? await call(.bus("RemoveMatch", [.string(text)]), timeout: Self.busTimeout)
        }
    }
}

extension MatchRule {
    /// Matches the bus's signal that a name has a new owner. Subscribe first, then query the
    /// current owner: no change is missed then.
    package static func ownerChanges(of name: String) -> MatchRule {
        MatchRule(
            sender: Bus.name,
            path: Bus.path,
            interface: Bus.name,
            member: "NameOwnerChanged",
            firstArgument: name
        )
    }

    /// Returns the new owner of a name after a change: `.some(nil)` if it has none.
    ///
    /// - Returns: `nil` if the signal does not announce such a change.
    package static func newOwner(of name: String, in signal: Signal) -> String?? {
        guard signal.sender == Bus.name, signal.member == "NameOwnerChanged",
            signal.arguments.count == 3, signal.arguments[0].asString == name,
            let owner = signal.arguments[2].asString
        else { return nil }
        return .some(owner.isEmpty ? nil : owner)
    }
}
