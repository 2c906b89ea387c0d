import NevodHost
import NevodSupport

/// A challenge of a response, for messages: a scheme that the server accepts, and perhaps why it refused a credential.
struct AuthChallenge: Equatable {
    let scheme: String
    private var parameters: [String: String] = [:]

    /// A server decides how many challenges it sends.
    private static let most = 8

    init(_ scheme: String, _ parameters: [String: String] = [:]) {
        self.scheme = scheme
        self.parameters = parameters
    }

    /// The first challenges of WWW-Authenticate (RFC 9110 §11.6.1), of one line or several, in order. A line is read up to its first
    /// fault.
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

    /// The value of the first parameter of that name, in lower case.
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
