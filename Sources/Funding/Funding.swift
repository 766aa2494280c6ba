/// The decisions about money that comes in from cards and goes out to banks: pure functions of a
/// record and of what a look at the provider has shown.
package enum Funding {}
