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

extension OAuthServer {
    /// Reads an issuer's metadata (RFC 8414 §3, OpenID Connect Discovery §4). It counts only if it names this very issuer, byte
    /// for byte (RFC 8414 §3.3). Redirects are not followed. An issuer with TLS can't name an endpoint without TLS.
    ///
    /// - Parameters:
    ///   - issuer: the issuer's identifier: https, unless the server is on this machine.
    ///   - provider: sends the one or two requests.
    ///   - timeout: limits each request.
    /// - Throws: ``OAuthError``.
    public static func discover(
        issuer: String, provider: NetworkProvider = NetworkProvider(session: CurlSession()), timeout: Duration = .seconds(30)
    ) async throws(OAuthError) -> OAuthServer {
        let url = try checkedIssuer(issuer)
        let requests = OAuthRequests(provider: provider, timeout: timeout)
        var failure: OAuthError?
        for location in locations(of: url) {
            do throws(OAuthError) {
                let response = try await requests.get(location, for: "its metadata")
                guard response.status == 200, let json = response.json, json["issuer"] != nil else {
                    throw response.isMissing
                        ? OAuthError(
                            .invalidMetadata, "\(url.origin) has no metadata of the issuer; check its URL, or name the endpoints",
                            status: response.status)
                        : response.failure
                }
                return try OAuthServer(metadata: json, of: issuer, at: url)
            } catch {
                let isFinal = error.code == .cancelled || error.code == .invalidMetadata && error.status == nil
                if isFinal { throw error }
                // A server that fails now is worth another attempt, even if it lacks the other document.
                if failure?.isTransient != true { failure = error }
            }
        }
        throw failure ?? OAuthError(.invalidMetadata, "\(url.origin) has no metadata of the issuer")
    }

    static func checkedIssuer(_ issuer: String) throws(OAuthError) -> HTTPURL {
        let url = try checked(issuer, as: "issuer")
        guard !url.target.utf8.contains(UInt8(ascii: "?")) else {
            throw OAuthError(.invalidSetting, "the issuer at \(url.origin) must have no query (RFC 8414 §2)")
        }
        return url
    }

    private static func locations(of issuer: HTTPURL) -> [String] {
        var path = issuer.target
        while path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
        return [
            "\(issuer.origin)/.well-known/oauth-authorization-server\(path)",
            "\(issuer.origin)\(path)/.well-known/openid-configuration",
        ]
    }

    private init(metadata: JSONValue, of issuer: String, at url: HTTPURL) throws(OAuthError) {
        func invalid(_ problem: String) -> OAuthError { OAuthError(.invalidMetadata, "the metadata of \(issuer) \(problem)") }
        guard let named = metadata["issuer"]?.string, named.utf8.elementsEqual(issuer.utf8) else {
            let named = metadata["issuer"]?.string.map { ", \(ServerWords.quoted($0))" } ?? ""
            throw invalid("names another issuer\(named); give the issuer exactly as its server names it (RFC 8414 §3.3)")
        }
        func endpoint(_ name: String) throws(OAuthError) -> String? {
            guard let value = metadata[name]?.string else { return nil }
            let checked: HTTPURL
            do throws(OAuthError) { checked = try OAuthServer.checked(value, as: name) } catch {
                throw invalid("names the \(name) \(ServerWords.quoted(value)), which isn't an https URL without a fragment")
            }
            guard checked.origin.scheme == .https || url.origin.scheme == .http else {
                throw invalid("names a \(name) without TLS")
            }
            return value
        }
        guard let token = try endpoint("token_endpoint") else { throw invalid("names no token_endpoint") }
        try self.init(
            tokenEndpoint: token, authorizationEndpoint: try endpoint("authorization_endpoint"),
            deviceAuthorizationEndpoint: try endpoint("device_authorization_endpoint"),
            revocationEndpoint: try endpoint("revocation_endpoint"), issuer: issuer,
            namesIssuer: metadata["authorization_response_iss_parameter_supported"]?.bool == true)
        if case .array(let methods)? = metadata["code_challenge_methods_supported"] {
            lacksS256 = !methods.isEmpty && !methods.contains("S256")
        }
    }
}
