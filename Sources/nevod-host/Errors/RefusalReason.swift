import NevodHost
import NevodSupport

/// The server's reason for a refusal, as messages show it.
extension Refusal {
    /// A server's text is cut after this many characters.
    private static let longestText = 300

    /// The server's own reason, from a challenge or else from the body; or else the schemes that it asks for. Redacted.
    var reason: String? {
        if let error = challenges.lazy.compactMap(\.error).first { return Self.shown(error) }
        if let detail { return Self.shown(detail) }
        return response.status == 401 ? asked.map { "it asks for \($0)" } : nil
    }

    /// The schemes that the server asks for.
    var asked: String? {
        challenges.isEmpty ? nil : Self.shown(challenges.map(\.title).joined(separator: ", "))
    }

    static func shown(_ text: String) -> String {
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

/// A response's challenge, for messages: a scheme that the server accepts, and perhaps the reason why it refused a credential.
struct AuthChallenge: Equatable {
    let scheme: String
    private var parameters: [String: String] = [:]

    /// The maximum number of challenges to read; a server may send any number.
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

    /// The value of the first parameter with a name, which is in lower case.
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
