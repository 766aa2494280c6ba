extension DaemonConfiguration {
    /// What it is after a reload: whom it lists may change while the daemon runs.
    ///
    /// The socket belongs to the group that it was made for; whom that lets in stays with it.
    func reloaded(from new: DaemonConfiguration) -> DaemonConfiguration {
        var reloaded = self
        reloaded.cashierUserIDs = new.cashierUserIDs
        reloaded.spenderUserIDs = new.spenderUserIDs
        return reloaded
    }

    /// Whether something of a new one waits for a restart.
    func needsRestart(for new: DaemonConfiguration) -> Bool {
        new.server != server || new.radio != radio || new.socketPath != socketPath
            || new.stateDirectory != stateDirectory || new.proximity != proximity
            || new.serviceUUID != serviceUUID || new.tokenFile != tokenFile
            || new.eidLifetime != eidLifetime || new.group != group
            || new.canPowerCycle != canPowerCycle || new.logLevel != logLevel
    }
}
