import NevodHost
import NevodSupport

/// The origins that the credentials of a command line are for.
///
/// A profile's are for its `url` and `origins`, a session that was stored without a profile for those of its login, and `--origin` adds
/// one. A plugin, `-u` or `-H` that is typed stands beside its URL, and is for that.
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

    /// The origins of the URLs. One that can't be parsed has none: its request can't be made.
    var ofURLs: [Origin] {
        arguments.command.operandKind == .url
            ? (arguments.authorizedURLs ?? arguments.operands).compactMap { try? Origin(ofURL: $0) } : []
    }

    /// Refuses a profile's credential for a URL of another origin. Call before anything is read, asked or sent.
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

    /// Refuses a session, stored without a profile, for a URL of another origin than those of its login. A session without any known
    /// origin is for the URL that its plugin is typed with.
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

    /// The origins that a session should be stored for, beyond those that its settings name: those of `--origin`, and those of the URLs.
    /// None with a profile, since its config file says so, and may change.
    func toStore(beyond named: [String]) throws(UsageError) -> [String] {
        guard arguments.profile == nil else { return [] }
        let origins = try added().map(\.description) + ofURLs.map(\.description)
        return Set(origins).subtracting(named).sorted()
    }
}

/// A credential that is for other origins than the URL's. Nothing was sent.
struct CredentialScopeError: Error, CustomStringConvertible {
    let holder: String
    let credential: String
    let allowed: [Origin]
    let origin: Origin
    let wayOut: String

    var description: String {
        let places = allowed.map(\.description).joined(separator: " and ")
        let isUnencrypted = origin.scheme == .http && allowed.contains { $0.host == origin.host && $0.scheme == .https }
        return (allowed.isEmpty ? "\(holder) names no origin that it is for" : "\(holder) is for \(places)")
            + ", so \(credential) is not sent to \(origin)\(isUnencrypted ? ", which is not encrypted" : ""); to allow it, \(wayOut)"
    }
}
