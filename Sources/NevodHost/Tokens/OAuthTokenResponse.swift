internal import NevodSupport

/// A token endpoint's response (RFC 6749 §5.1) in the forms that servers send, read from JSON, a form, or any decoder.
struct OAuthTokenResponse {
    /// A response that has no token to use.
    enum Problem: Error {
        case noAccessToken
        /// The client doesn't understand the type, and must not use the token (RFC 6749 §7.1).
        case otherType
    }

    let accessToken: String
    /// Nil for an empty one: it replaces none.
    let refreshToken: String?
    /// From the request on.
    let lifetime: Duration?
    let scope: String?

    /// - Parameters:
    ///   - lifetime: in seconds; nil if the server didn't say.
    ///   - scopes: texts of one or more scopes; nil if the server didn't say.
    private init(
        accessToken: String?, type: String?, refreshToken: String?, lifetime: Double?, scopes: [String]?
    ) throws(Problem) {
        guard let accessToken, Self.isAccessToken(accessToken) else { throw .noAccessToken }
        guard type.map({ $0.lowercased() == "bearer" }) != false else { throw .otherType }
        self.accessToken = accessToken
        // Only repeated, in a form's field, which takes any text: one that isn't of RFC 6749's characters replaces the spent one as well.
        self.refreshToken = refreshToken.flatMap { $0.isEmpty ? nil : $0 }
        self.lifetime = lifetime.map { .seconds(max(0, min($0, 1e9))) }
        scope = scopes?.joined(separator: " ")
    }

    init(_ json: JSONValue) throws(Problem) {
        var scopes: [String]? = json["scope"]?.string.map { [$0] }
        if case .array(let elements)? = json["scope"] {
            let texts = elements.compactMap(\.string)
            if texts.count == elements.count { scopes = texts }
        }
        let lifetime: Double? =
            switch json["expires_in"] {
            case .integer(let seconds)?: Double(seconds)
            case .number(let seconds)?: seconds
            case .string(let text)?: Int64(text).map(Double.init)
            default: nil
            }
        try self.init(
            accessToken: json["access_token"]?.string, type: json["token_type"]?.string,
            refreshToken: json["refresh_token"]?.string, lifetime: lifetime, scopes: scopes)
    }

    /// Whether a text can be an access token (RFC 6750 §2.1) that is no longer than a header takes.
    private static func isAccessToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 32_768 && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}

extension OAuthTokenResponse: Decodable {
    private enum CodingKeys: String, CodingKey {
        case accessToken = "access_token"
        case tokenType = "token_type"
        case refreshToken = "refresh_token"
        case expiresIn = "expires_in"
        case scope
    }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) -> String? { try? members.decode(String.self, forKey: key) }
        do {
            try self.init(
                accessToken: text(.accessToken), type: text(.tokenType), refreshToken: text(.refreshToken),
                lifetime: (try? members.decode(Double.self, forKey: .expiresIn))
                    ?? text(.expiresIn).flatMap { Int64($0).map(Double.init) },
                scopes: text(.scope).map { [$0] } ?? (try? members.decode([String].self, forKey: .scope)))
        } catch Problem.noAccessToken {
            throw DecodingError.dataCorruptedError(
                forKey: .accessToken, in: members, debugDescription: "the response has no valid access_token")
        } catch {
            throw DecodingError.dataCorruptedError(
                forKey: .tokenType, in: members,
                debugDescription: "the token_type is not Bearer, the only type that OAuthToken supports")
        }
    }
}

extension OAuthToken {
    /// - Parameter time: from which on the lifetime counts.
    init(_ response: OAuthTokenResponse, at time: UnixTime) {
        self.init(
            accessToken: response.accessToken, refreshToken: response.refreshToken,
            expiresAt: response.lifetime.map { time + $0 }, scope: response.scope)
    }
}
