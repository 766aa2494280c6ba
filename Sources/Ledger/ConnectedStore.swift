/// A store whose connections have an actor and a thread each: every call goes to one of them, and
/// what fails there is told as a `LedgerError`.
protocol ConnectedStore: LedgerStore, DeviceStore, WebhookStore, OperationsStore {
    associatedtype Reader: StoreReader
    associatedtype Writer: SideWriter

    /// The one whose turn it is.
    var reader: Reader { get throws(LedgerError) }

    /// Writes what stands beside the books: devices and the outbox.
    var sideWriter: Writer { get throws(LedgerError) }
}
