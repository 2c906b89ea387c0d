import NevodHost
import NevodSupport

/// A 401 or 403 response: its statement about the request's credential, and the way out.
struct Refusal {
    private let response: HTTPResponse
    private let credential: CarriedCredential?
    private let wasLeftOut: Bool
    private let challenges: [AuthChallenge]
    private let arguments: Arguments
    private let scheme: Scheme?

    /// The reason in the response's body, if the body was read.
    var detail: String?

    /// A server's text is cut after this many characters.
    private static let longestText = 300

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
    /// it may have nothing to do with either.
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

    /// The server's own reason, redacted: from a challenge, or else from the body, or else the schemes that it asks for.
    private var reason: String? {
        if let error = challenges.lazy.compactMap(\.error).first { return Self.shown(error) }
        if let detail { return Self.shown(detail) }
        return response.status == 401 ? asked.map { "it asks for \($0)" } : nil
    }

    private var asked: String? {
        challenges.isEmpty ? nil : Self.shown(challenges.map(\.title).joined(separator: ", "))
    }

    private func wayOut(of credential: CarriedCredential) -> String {
        if let scope = challenges.lazy.compactMap({ $0["scope"] }).first {
            return "; it needs the scope \"\(Self.shown(scope))\""
        }
        guard response.status == 401 else { return "; use an account that may, or ask for the permission" }
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

    private static func shown(_ text: String) -> String {
        let text = Redaction.shared.text(text)
        return text.count <= longestText ? text : text.prefix(longestText) + "…"
    }
}

/// Reads the reason from an error's JSON body, for `--fail`, which doesn't print the body.
enum RefusalDetail {
    private static let longestBody = 16 << 10
    /// The longest wait for the body. The head has arrived, and a message isn't worth a longer wait.
    private static let longestWait = Duration.seconds(1)

    /// Reads a short JSON body and returns its reason; nil if it has none.
    static func read(_ response: HTTPResponse) async -> String? {
        guard let length = response.headers["Content-Length"].flatMap({ Int($0) }), (1...longestBody).contains(length),
            response.isJSON
        else { return nil }
        let reading = Task { try? await response.body.collect(upTo: longestBody) }
        let timer = Task {
            try await Task.sleep(for: longestWait)
            reading.cancel()
        }
        defer { timer.cancel() }
        return await reading.value.flatMap(reason)
    }

    /// Looks for a reason where RFC 9457 §3.1, RFC 6749 §5.2 and common servers put it.
    static func reason(in body: [UInt8]) -> String? {
        guard let document = try? JSONValue(response: body.span, repairsText: true) else { return nil }
        let places = [
            document["error_description"], document["detail"], document["message"], document["error"]?["message"],
            document["error"], document["title"],
        ]
        return places.lazy.compactMap { $0?.string }.first { !$0.isEmpty }
    }
}

/// The kind of credential that a request carried to its server, for messages.
enum CarriedCredential: Equatable {
    /// A plugin's scheme wrote the credential.
    case scheme
    /// A token of this program wrote the credential, such as the token of `-u`.
    case token
    /// The user typed the credential, as a header line.
    case line(name: String)

    /// Returns nil if the request carries no credential for the server. A credential for a proxy doesn't count.
    init?(_ request: HTTPRequest) {
        var typed: String?
        for line in request.headers {
            if line.provenance.writesCredentials {
                self = line.provenance.description.hasPrefix("scheme ") ? .scheme : .token
                return
            }
            let isSecret = line.provenance == .caller && CredentialNames.standard.contains(line.name.utf8)
            if isSecret, typed == nil, line.name.lowercased() != "proxy-authorization" { typed = line.name }
        }
        var withoutProxy = request
        withoutProxy.removeHeader("Proxy-Authorization")
        if let typed {
            self = .line(name: typed)
        } else if request.proxyAuthorization == nil, withoutProxy.carriesCredentials {
            // The credential is in the query.
            self = .scheme
        } else {
            return nil
        }
    }
}

/// A response's challenge, for messages: a scheme that the server accepts, and perhaps the reason why it refused a credential.
struct AuthChallenge: Equatable {
    let scheme: String
    private var parameters: [String: String] = [:]

    /// The most challenges to read: a server may send any number.
    private static let most = 8

    init(_ scheme: String, _ parameters: [String: String] = [:]) {
        self.scheme = scheme
        self.parameters = parameters
    }

    /// Returns the first challenges of WWW-Authenticate (RFC 9110 §11.6.1), in order, from one line or several. Each line is read
    /// up to its first fault.
    static func all(of headers: HTTPHeaders) -> [AuthChallenge] {
        var challenges: [AuthChallenge] = []
        for line in headers.values(of: "WWW-Authenticate") {
            for element in ChallengeElement.elements(of: line) {
                switch element {
                case .scheme(let name, _):
                    guard challenges.count < most else { return challenges }
                    challenges.append(AuthChallenge(name))
                case .parameter(let name, let value):
                    guard let last = challenges.indices.last else { continue }
                    let name = name.lowercased()
                    if challenges[last].parameters[name] == nil { challenges[last].parameters[name] = value }
                }
            }
        }
        return challenges
    }

    /// The value of the first parameter of a name. The name is in lower case.
    subscript(name: String) -> String? { parameters[name] }

    /// `invalid_token (The access token expired)` (RFC 6750 §3); nil without an error.
    var error: String? {
        guard let error = parameters["error"] else { return nil }
        return parameters["error_description"].map { "\(error) (\($0))" } ?? error
    }

    /// `Basic (realm "orders")`
    var title: String {
        guard let realm = parameters["realm"], !realm.isEmpty else { return scheme }
        return "\(scheme) (realm \"\(realm)\")"
    }
}
