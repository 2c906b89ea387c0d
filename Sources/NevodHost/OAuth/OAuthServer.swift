internal import NevodOAuth
internal import NevodSupport

/// An authorization server: its endpoints, and whatever else an ``OAuthClient`` needs to know about it (RFC 8414 §2).
///
/// Each URL is `https`, unless its server is on this machine (RFC 6749 §3.1, §3.2).
public struct OAuthServer: Sendable, Hashable {
    /// The identifier that redirects must name (RFC 9207); nil if it isn't known.
    public let issuer: String?
    /// Issues tokens (RFC 6749 §3.2).
    public let tokenEndpoint: String
    /// Logs a person in with a browser (RFC 6749 §3.1).
    public let authorizationEndpoint: String?
    /// Issues codes for devices without a browser (RFC 8628 §3.1).
    public let deviceAuthorizationEndpoint: String?
    /// Revokes tokens (RFC 7009 §2).
    public let revocationEndpoint: String?
    /// Whether every redirect names the issuer (`authorization_response_iss_parameter_supported`, RFC 9207 §3). If so, a redirect
    /// without it is refused.
    public let namesIssuer: Bool
    /// Whether the metadata lists PKCE methods without `S256`, the only method that a client uses.
    var lacksS256 = false

    /// - Parameters:
    ///   - tokenEndpoint: issues tokens.
    ///   - authorizationEndpoint: logs a person in; nil if no login takes place in a browser.
    ///   - deviceAuthorizationEndpoint: issues codes for devices.
    ///   - revocationEndpoint: revokes tokens.
    ///   - issuer: the issuer's identifier, byte for byte. A redirect that names another issuer is refused.
    ///   - namesIssuer: whether a redirect without an issuer is refused.
    /// - Throws: ``OAuthError`` for a URL that can't be used, and for `namesIssuer` without an issuer to compare with.
    public init(
        tokenEndpoint: String, authorizationEndpoint: String? = nil, deviceAuthorizationEndpoint: String? = nil,
        revocationEndpoint: String? = nil, issuer: String? = nil, namesIssuer: Bool = false
    ) throws(OAuthError) {
        let endpoints: [(String, String?)] = [
            ("token endpoint", tokenEndpoint), ("authorization endpoint", authorizationEndpoint),
            ("device authorization endpoint", deviceAuthorizationEndpoint), ("revocation endpoint", revocationEndpoint),
        ]
        for case (let name, let url?) in endpoints { _ = try Self.checked(url, as: name) }
        guard issuer != nil || !namesIssuer else {
            throw OAuthError(.invalidSetting, "namesIssuer needs the issuer, with which redirects are compared (RFC 9207)")
        }
        self.tokenEndpoint = tokenEndpoint
        self.authorizationEndpoint = authorizationEndpoint
        self.deviceAuthorizationEndpoint = deviceAuthorizationEndpoint
        self.revocationEndpoint = revocationEndpoint
        self.issuer = issuer
        self.namesIssuer = namesIssuer
    }

    /// - Parameter name: names the URL in the error.
    static func checked(_ url: String, as name: String) throws(OAuthError) -> HTTPURL {
        let parsed: HTTPURL
        do { parsed = try HTTPURL(url) } catch { throw OAuthError(.invalidSetting, "the \(name): \(error)") }
        guard parsed.origin.isAuthentic else {
            throw OAuthError(
                .invalidSetting, "the \(name) \(parsed.origin) must be https or on this machine, since tokens are sent to it")
        }
        guard !url.utf8.contains(UInt8(ascii: "#")) else {
            throw OAuthError(.invalidSetting, "the \(name) at \(parsed.origin) must have no fragment (RFC 6749 §3.1)")
        }
        return parsed
    }
}
