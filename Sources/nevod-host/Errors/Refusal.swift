import NevodHost
import NevodSupport

/// A 401 or 403 response: its statement about the request's credential, and the way out.
struct Refusal {
    let response: HTTPResponse
    private let credential: CarriedCredential?
    private let wasLeftOut: Bool
    let challenges: [AuthChallenge]
    private let arguments: Arguments
    private let scheme: Scheme?

    /// The reason in the response's body, if the body was read.
    var detail: String?

    /// Returns nil for a response with any other status.
    ///
    /// - Parameter hops: the operation's hops. The last one has this response.
    init?(_ response: HTTPResponse, after hops: [Hop], _ arguments: Arguments, _ scheme: Scheme?) {
        guard response.status == 401 || response.status == 403 else { return nil }
        self.response = response
        self.arguments = arguments
        self.scheme = scheme
        credential = hops.last.flatMap { CarriedCredential($0.request) }
        wasLeftOut = credential == nil && hops.contains { CarriedCredential($0.request) != nil }
        challenges = AuthChallenge.all(of: response.headers)
    }

    /// Whether the request carried a credential.
    var isOfCredential: Bool { credential != nil }

    /// The text after `the server responded with 401 Unauthorized`. Nil for a 403 without a credential and without a challenge:
    /// the refusal may have nothing to do with either.
    var explanation: String? {
        guard let credential else {
            if wasLeftOut { return "; the credential was left out, since a redirect led to another origin" }
            guard response.status == 401 || !challenges.isEmpty else { return nil }
            return " and asks for a credential\(asked.map { ": \($0)" } ?? ""); give one with --plugin, --profile, -u or -H"
        }
        let verb = response.status == 401 ? " and refused " : " and does not let "
        let rest = response.status == 401 ? "" : " do this"
        return verb + name(of: credential) + rest + (reason.map { ": \($0)" } ?? "") + wayOut(of: credential)
    }

    private func name(of credential: CarriedCredential) -> String {
        switch credential {
        case .scheme:
            scheme.map { "the credential of the scheme \"\($0.id)\" of \(Self.fileName($0))" } ?? "the scheme's credential"
        case .token where arguments.has(.bearer): "the token of --bearer"
        case .token: arguments.has(.user) ? "the name and password of -u" : "the credential"
        case .line(let name): "the line \"\(name)\""
        }
    }

    private func wayOut(of credential: CarriedCredential) -> String {
        if let scope = challenges.lazy.compactMap({ $0["scope"] }).first {
            return "; it needs the scope \"\(Self.shown(scope))\""
        }
        guard response.status == 401 else { return "; use an account that has the permission, or ask for it" }
        switch credential {
        case .scheme:
            guard let scheme else { return "" }
            if scheme.hasFlows {
                return arguments.has(.noStore)
                    ? "; check the answers and the settings" : "; log in again: \(LoginCommandLine.text(arguments))"
            }
            let names = scheme.settings.filter { $0.isRequired || $0.isSecret }.map { "\"\($0.name)\"" }
            return names.isEmpty ? "" : "; check the setting\(names.count == 1 ? "" : "s") \(names.joined(separator: " and "))"
        case .token: return arguments.has(.user) ? "; check both" : "; check it"
        case .line: return "; check its value"
        }
    }

    private static func fileName(_ scheme: Scheme) -> String {
        String(
            scheme.plugin[
                (scheme.plugin.lastIndex(of: "/").map { scheme.plugin.index(after: $0) } ?? scheme.plugin.startIndex)...])
    }
}
