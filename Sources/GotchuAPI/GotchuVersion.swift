/// The version of `gotchud`, `gotchu-ctl` and `gotchu-server`, which are released together.
package enum GotchuVersion {
    package static let current = "0.1.0"
}
