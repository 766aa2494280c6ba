extension Connection {
    /// Subscribes to signals that match any of the rules; returns when the bus has confirmed all of
    /// them, so that none sent later is missed.
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
        // Before the bus knows of it: the first signal may come right behind the reply.
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

    /// Ends a subscription: nothing more is received, and the bus forgets the rules. A second call
    /// does nothing.
    package func unsubscribe(_ subscription: SignalSubscription) async {
        guard subscriptions.remove(id: subscription.id, rules: subscription.rules) else { return }
        for rule in subscription.rules {
            guard let text = try? rule.text() else { continue }
            // The bus counts equal rules, so this removes ours alone. A failure means that the
            // connection is ending, or that the rule never got there.
            _ = try? await call(.bus("RemoveMatch", [.string(text)]), timeout: Self.busTimeout)
        }
    }
}

extension MatchRule {
    /// The bus's announcements that a name has a new owner. Subscribe first, then ask for the owner
    /// now: that way no change falls in between.
    package static func ownerChanges(of name: String) -> MatchRule {
        MatchRule(
            sender: Bus.name,
            path: Bus.path,
            interface: Bus.name,
            member: "NameOwnerChanged",
            firstArgument: name
        )
    }

    /// The owner that a change left behind: `.some(nil)` for none.
    ///
    /// - Returns: `nil` if the signal is not the bus's announcement of that.
    package static func newOwner(of name: String, in signal: Signal) -> String?? {
        guard signal.sender == Bus.name, signal.member == "NameOwnerChanged",
            signal.arguments.count == 3, signal.arguments[0].asString == name,
            let owner = signal.arguments[2].asString
        else { return nil }
        return .some(owner.isEmpty ? nil : owner)
    }
}
