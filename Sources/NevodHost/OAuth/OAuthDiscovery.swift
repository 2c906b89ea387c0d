internal import NevodOAuth
internal import NevodSupport

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
