/// The version of the three programs, which are released together.
package enum GotchuVersion {
    package static let current = "0.1.0"
}
