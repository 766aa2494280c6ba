/// The result of a call that creates an object, or of an earlier call with the same key.
package struct Created<View: Sendable>: Sendable {
    package let view: View
    /// A Boolean that is true if an earlier call created the object and this call created nothing.
    package let isReplay: Bool

    package init(_ view: View, isReplay: Bool) {
        self.view = view
        self.isReplay = isReplay
    }
}
