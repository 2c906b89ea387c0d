import NevodHost
import NevodSupport

/// Authorizes requests for other programs to send. Stored sessions are used and renewed as for a request of our own.
struct CredentialSource: Sendable {
    let arguments: Arguments
    let console: Console
    let session: CurlSession

    /// Returns what authorizes a request, which is not sent.
    ///
    /// - Parameter isReusable: whether the receiver uses the credential for several requests. A scheme that signs each of them is then
    ///   an error.
    func credential(for request: HTTPRequest, isReusable: Bool) async throws -> IssuedCredential {
        let authorization = try await RequestAuthorization(arguments, console, session)
        guard !authorization.isEmpty else {
            throw UsageError("\(arguments.command.rawValue) needs a --plugin, a --profile that names one, -u or --bearer")
        }
        let writer = authorization.login.map { login in
            let scheme = login.scheme.instance.scheme
            return "\(scheme.plugin): the scheme \"\(scheme.id)\""
        }
        guard let login = authorization.login, authorization.mayRenew else {
            return try await issue(for: request, authorization, isReusable, writer: writer ?? "-u")
        }
        return try await Interruption.shared.cancelling(on: session.executor, gracePeriod: SchemeLogin.gracePeriod) {
            let result: Result<IssuedCredential, any Error>
            do {
                result = .success(try await issue(for: request, authorization, isReusable, writer: writer ?? ""))
            } catch {
                result = .failure(error)
            }
            await login.waitForPendingToken()
            return try result.get()
        }
    }

    private func issue(
        for request: HTTPRequest, _ authorization: RequestAuthorization, _ isReusable: Bool, writer: String
    ) async throws -> IssuedCredential {
        let login = authorization.login
        let chain = InterceptorChain(try authorization.interceptors(for: request))
        let provider = NetworkProvider(session: session, interceptor: chain)
        let options = RequestOptions(schemeParameters: login?.parameters ?? SchemeParameters())
        let signed = try await provider.authorize(request, options)
        Redaction.shared.learn(signed)
        if case .bytes(let given) = request.body, case .bytes(let sent) = signed.body, given != sent {
            throw UnusableCredentialError(
                "\(writer) changes the request's body, which header lines can't say; nevod-host sign prints all")
        }
        let credential = IssuedCredential(
            lines: signed.headers.filter(\.provenance.writesCredentials), url: signed.url, isInURL: signed.url != request.url,
            expiresAt: try await login?.tokenExpiry(), writer: writer)
        guard isReusable else { return credential }
        let other = try await provider.authorize(Self.other(than: request), options)
        let lines = other.headers.filter(\.provenance.writesCredentials)
        guard lines.map(\.name) == credential.lines.map(\.name), lines.map(\.value) == credential.lines.map(\.value) else {
            throw UnusableCredentialError(
                "\(writer) signs each request, so that there is no credential that another program could use for its own; "
                    + "nevod-host URL sends a request, and nevod-host header prints the lines of one")
        }
        return credential
    }

    /// A request to the same origin that a signature tells from the given one. It is not sent.
    private static func other(than request: HTTPRequest) throws -> HTTPRequest {
        try HTTPRequest(.post, "\(request.origin)/another/path?query=1", body: .bytes(Array("content".utf8)))
    }
}
