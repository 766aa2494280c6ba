/// Decisions about money received from cards and paid to banks: pure functions of a record and an
/// observation of the provider's state.
package enum Funding {}
