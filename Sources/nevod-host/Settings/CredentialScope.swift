import NevodHost
import NevodSupport

/// Decides which origins a command line's credentials may be sent to.
///
/// A profile's credentials may go to its `url` and `origins`, and a session that was stored without a profile to the origins of
/// its login. `--origin` adds an origin. A plugin, `-u` or `-H` that is typed next to a URL may go to that URL.
struct CredentialScope {
    let arguments: Arguments

    init(_ arguments: Arguments) { self.arguments = arguments }

    /// The origins of `--origin`.
    func added() throws(UsageError) -> [Origin] {
        var origins: [Origin] = []
        for text in arguments.values(.origin) {
            do { origins.append(try Origin(text)) } catch {
                throw UsageError("--origin needs an origin such as https://api.example.com:8443: \(error.problem)")
            }
        }
        return origins
    }

    /// The origins of the URLs. Leaves out URLs that can't be parsed, since no request can be made to them.
    var ofURLs: [Origin] {
        arguments.command.operandKind == .url
            ? (arguments.authorizedURLs ?? arguments.operands).compactMap { try? Origin(ofURL: $0) } : []
    }

    /// Refuses to send a profile's credential to a URL of another origin. Call before anything is read, asked or sent.
    func check() throws {
        let added = try added()
        guard let profile = arguments.profile,
            let credential = profile.credential(for: arguments.command, without: arguments.undone)
        else { return }
        let allowed = profile.origins + added
        for origin in ofURLs where !allowed.contains(origin) {
            let line = "\"origins = \(origin)\" below line \(profile.line) of \(profile.path)"
            throw CredentialScopeError(
                holder: "the profile \"\(TerminalText.safe(profile.name))\"", credential: "its \(credential)", allowed: allowed,
                origin: origin, wayOut: "write \(line), or give --origin \(origin)")
        }
    }

    /// Refuses to send a session that was stored without a profile to a URL outside its origins. A session without known origins
    /// may go to the URL that its plugin is typed with.
    func check(_ session: SessionName) throws {
        guard arguments.profile == nil, !session.allOrigins.isEmpty else { return }
        let added = try added()
        for origin in ofURLs where !session.allOrigins.contains(origin.description) && !added.contains(origin) {
            let login = LoginCommandLine.text(arguments, adding: [origin])
            throw CredentialScopeError(
                holder: "the stored session", credential: "it",
                allowed: session.allOrigins.compactMap { try? Origin($0) } + added,
                origin: origin, wayOut: "give --origin \(origin), or log in for it: \(login)")
        }
    }

    /// Returns the extra origins to store with a session, from `--origin` and the URLs. The settings name the others. Empty with
    /// a profile: the config file names its origins, and may change.
    func toStore(beyond named: [String]) throws(UsageError) -> [String] {
        guard arguments.profile == nil else { return [] }
        let origins = try added().map(\.description) + ofURLs.map(\.description)
        return Set(origins).subtracting(named).sorted()
    }
}

/// Reports a credential that must not go to the URL's origin. Nothing was sent.
struct CredentialScopeError: Error, CustomStringConvertible {
    let holder: String
    let credential: String
    let allowed: [Origin]
    let origin: Origin
    let wayOut: String

    var description: String {
        let places = allowed.map(\.description).joined(separator: " and ")
        let isUnencrypted = origin.scheme == .http && allowed.contains { $0.host == origin.host && $0.scheme == .https }
        return (allowed.isEmpty ? "\(holder) names no origin" : "\(holder) is for \(places)")
            + ", so \(credential) is not sent to \(origin)\(isUnencrypted ? ", which is not encrypted" : ""); to allow it, \(wayOut)"
    }
}
