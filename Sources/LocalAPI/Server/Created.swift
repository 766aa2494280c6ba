/// What a call made, or had made when it was sent before with the same key.
package struct Created<View: Sendable>: Sendable {
    package let view: View
    /// Whether this repeats a call that was answered before: nothing was made now.
    package let isReplay: Bool

    package init(_ view: View, isReplay: Bool) {
        self.view = view
        self.isReplay = isReplay
    }
}
