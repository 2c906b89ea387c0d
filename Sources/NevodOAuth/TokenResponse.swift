package import NevodSupport

/// A token endpoint's response (RFC 6749 §5.1), in any variant that servers send.
package struct TokenResponse: Sendable {
    /// The response has no usable token.
    package enum Fault: Error {
        case noAccessToken
        /// The client doesn't understand the token's type, so it must not use the token (§7.1).
        case otherType
    }

    package enum TokenType: Sendable {
        /// RFC 6750.
        case bearer
        /// Bound to a key (RFC 9449).
        case dpop
    }

    package let accessToken: String
    package let type: TokenType
    /// Nil if the server sent none, or an empty one, which doesn't replace the old refresh token. It may have characters that
    /// Appendix A.17 forbids: it replaces the spent token even then, and is only sent back, in a form's field.
    package let refreshToken: String?
    /// In seconds from the request on, up to 10⁹; nil if it isn't known.
    package let lifetime: Int64?
    /// The granted scopes; nil if the server sent none, or a text that isn't printable or is longer than 4096 bytes.
    package let scope: String?

    /// The longest access token in bytes.
    package static let mostTokenBytes = 32_768

    /// - Parameters:
    ///   - lifetime: in seconds; nil if the server didn't say.
    ///   - scopes: texts of one or more scopes; nil if the server didn't say.
    ///   - isFromSlack: whether the response is in Slack's format, which has names of its own for kinds of bearer tokens.
    package init(
        accessToken: String?, type: String?, refreshToken: String?, lifetime: Double?, scopes: [String]?,
        isFromSlack: Bool = false
    ) throws(Fault) {
        guard let accessToken, Self.isToken(accessToken) else { throw .noAccessToken }
        // Compared in any letter case (§5.1).
        let lowercased = type?.utf8.map { $0.lowercased }
        func isType(_ name: String) -> Bool { lowercased == Array(name.utf8) }
        if type == nil || isType("bearer") || isFromSlack && (isType("bot") || isType("user")) {
            self.type = .bearer
        } else if isType("dpop") {
            self.type = .dpop
        } else {
            throw .otherType
        }
        self.accessToken = accessToken
        self.refreshToken = refreshToken.flatMap { $0.isEmpty ? nil : $0 }
        self.lifetime = Self.seconds(lifetime)
        let scope = scopes?.joined(separator: " ")
        self.scope = scope.flatMap { $0.utf8.count <= 4096 && $0.utf8.allSatisfy { $0.isPrintable } ? $0 : nil }
    }

    package init(_ json: JSONValue) throws(Fault) {
        var scopes: [String]?
        switch json["scope"] {
        case .string(let text): scopes = [text]
        case .array(let elements):
            let texts = elements.compactMap { $0.string }
            if texts.count == elements.count { scopes = texts }
        default: break
        }
        try self.init(
            accessToken: json["access_token"]?.string, type: json["token_type"]?.string,
            refreshToken: json["refresh_token"]?.string, lifetime: Self.number(json["expires_in"]), scopes: scopes,
            isFromSlack: json["ok"]?.bool == true)
    }

    /// Whether a text can be an access token (RFC 6750 §2.1) that fits into a header.
    package static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= mostTokenBytes && text.utf8.allSatisfy { $0.isVisible }
    }

    /// A duration in whole seconds, up to 10⁹. Nil for one that isn't positive: some servers send zero for a token that doesn't
    /// expire.
    static func seconds(_ number: Double?) -> Int64? {
        guard let number, number > 0 else { return nil }
        return max(1, Int64(min(number, 1e9)))
    }

    /// The number in a member; some servers send it as a string.
    static func number(_ json: JSONValue?) -> Double? {
        switch json {
        case .integer(let number): Double(number)
        case .number(let number): number
        case .string(let text): Int64(text).map { Double($0) }
        default: nil
        }
    }
}
