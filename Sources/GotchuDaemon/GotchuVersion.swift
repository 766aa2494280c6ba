/// The version of this build.
enum GotchuVersion {
    static let current = "0.1.0"
}
