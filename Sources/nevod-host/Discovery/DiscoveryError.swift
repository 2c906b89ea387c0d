/// A site whose login can't be found out from its page. The text says why, and the way out.
struct DiscoveryError: Error, CustomStringConvertible {
    let description: String
    let exitCode: Int32

    init(_ description: String, exitCode: Int32 = ExitCode.authorization) {
        self.description = description
        self.exitCode = exitCode
    }

    /// The way out where a person has to find the settings.
    static let byHand = "write the settings: nevod-host profile add NAME --plugin \(Discovery.plugin) --set login=URL"
}
