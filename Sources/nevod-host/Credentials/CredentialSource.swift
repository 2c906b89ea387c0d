import NevodHost
import NevodSupport

/// Authorizes requests for other programs to send. Stored sessions are used and renewed as for our own requests.
struct CredentialSource: Sendable {
    let arguments: Arguments
    let console: Console
    let session: CurlSession

    /// Returns the credential for a request, without sending it.
    ///
    /// - Parameter isReusable: whether the receiver uses the credential for several requests. A scheme that signs each request is
    ///   then an error.
    func credential(for request: HTTPRequest, isReusable: Bool) async throws -> IssuedCredential {
        let authorization = try await RequestAuthorization(arguments, console, session)
        guard !authorization.isEmpty else {
            throw UsageError("\(arguments.command.rawValue) needs a --plugin, a --profile that names one, -u or --bearer")
        }
        return try await SchemeLogin.savingTokens(of: [authorization.login], on: session) {
            try await issue(for: request, authorization, isReusable)
        }
    }

    private func issue(
        for request: HTTPRequest, _ authorization: RequestAuthorization, _ isReusable: Bool
    ) async throws -> IssuedCredential {
        let writer = authorization.scheme.map { "\($0.instance.scheme.plugin): the scheme \"\($0.instance.scheme.id)\"" } ?? "-u"
        let chain = InterceptorChain(try authorization.interceptors(for: request))
        let provider = NetworkProvider(session: session, interceptor: chain)
        let options = RequestOptions(schemeParameters: authorization.parameters)
        let signed = try await provider.authorize(request, options)
        Redaction.shared.learn(signed)
        if case .bytes(let given) = request.body, case .bytes(let sent) = signed.body, given != sent {
            throw UnusableCredentialError(
                "\(writer) changes the request's body, which header lines can't express; nevod-host sign prints the whole request"
            )
        }
        let credential = IssuedCredential(
            lines: signed.headers.filter(\.provenance.writesCredentials), url: signed.url, isInURL: signed.url != request.url,
            expiresAt: try await authorization.login?.tokenExpiry(), writer: writer)
        guard isReusable else { return credential }
        let other = try await provider.authorize(Self.other(than: request), options)
        let lines = other.headers.filter(\.provenance.writesCredentials)
        guard lines.map(\.name) == credential.lines.map(\.name), lines.map(\.value) == credential.lines.map(\.value) else {
            throw UnusableCredentialError(
                "\(writer) signs each request, so there is no credential that another program could use for its own requests; "
                    + "nevod-host URL sends a request, and nevod-host header prints the lines for one")
        }
        return credential
    }

    /// A request to the same origin that would get a different signature. It is not sent.
    private static func other(than request: HTTPRequest) throws -> HTTPRequest {
        try HTTPRequest(.post, "\(request.origin)/another/path?query=1", body: .bytes(Array("content".utf8)))
    }
}

extension CredentialSource {
    /// Returns the credential for requests to a URL.
    func credential(for url: String) async throws -> IssuedCredential {
        try await credential(for: try HTTPRequest(.get, url), isReusable: true)
    }

    /// The user name for a token that a program sends as a password.
    var username: String { arguments.value(.username) ?? Self.defaultUsername }

    /// The user name to give with a token. Most servers ignore it.
    static let defaultUsername = "oauth2"
}
