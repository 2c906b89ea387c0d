internal import NevodPluginKit
internal import NevodSupport

/// A challenge for a bearer token or a bound token, with the reason why an API refuses it (RFC 6750 §3, RFC 9449 §7.1, RFC 9470 §3,
/// RFC 9728 §5.1).
struct BearerChallenge: Equatable, Sendable {
    /// The errors that this scheme handles, rather than the host.
    enum Fault: Equatable, Sendable {
        /// The token allows less than the request needs (RFC 6750 §3.1). A renewed token would allow no more.
        case insufficientScope
        /// The person must log in again, or in another way (RFC 9470 §3).
        case insufficientAuthentication
        /// The request itself is wrong, whatever the token.
        case invalidRequest
        case other
    }

    let fault: Fault
    /// The scopes that the request needs; empty if the API doesn't say.
    let scope: String
    /// The kinds of login that the API accepts, the best first, separated by spaces; nil if it doesn't say.
    let acrValues: String?
    /// The longest time since the login, in seconds; nil if the API doesn't say.
    let maxAge: Int64?
    /// The address of the API's metadata; nil if the API doesn't say.
    let resourceMetadata: String?

    /// Reads the first challenge that concerns these tokens; prefers one with an error.
    ///
    /// - Parameter lines: the values of the response's WWW-Authenticate lines.
    init?(_ lines: [String]) {
        let challenges = Challenge.parse(lines).filter { $0.isOf("Bearer") || $0.isOf("DPoP") }
        guard let challenge = challenges.first(where: { $0["error"] != nil }) ?? challenges.first else { return nil }
        let error = challenge["error"] ?? ""
        if error.utf8.elementsEqual("insufficient_scope".utf8) {
            fault = .insufficientScope
        } else if error.utf8.elementsEqual("insufficient_user_authentication".utf8) {
            fault = .insufficientAuthentication
        } else if error.utf8.elementsEqual("invalid_request".utf8) {
            fault = .invalidRequest
        } else {
            fault = .other
        }
        scope = challenge["scope"] ?? ""
        acrValues = challenge["acr_values"].flatMap { Self.isParameter($0) ? $0 : nil }
        maxAge = challenge["max_age"].flatMap { Int64($0) }.flatMap { (0...Self.longestAge).contains($0) ? $0 : nil }
        resourceMetadata = challenges.lazy.compactMap { $0["resource_metadata"] }.first
    }

    /// A hundred years.
    private static let longestAge: Int64 = 3_155_760_000

    /// Whether a text may be a parameter of an authorization request: printable ASCII, of bounded length.
    private static func isParameter(_ text: String) -> Bool {
        (1...1024).contains(text.utf8.count) && text.utf8.allSatisfy { $0.isPrintable }
    }
}
