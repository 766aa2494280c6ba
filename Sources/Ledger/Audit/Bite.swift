/// How much the sealer does at once.
package struct Bite: Sendable {
    /// How many transfers are looked at by one question.
    var stretch = 8_192
    /// How many of them are sealed by one commit: payments wait for no more than these.
    var seals = 512

    /// For where hardly any transfer has a seal yet: no more is looked at than can be sealed.
    var ofNew: Bite { Bite(stretch: seals, seals: seals) }
}
