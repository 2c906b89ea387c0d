import NevodHost

/// `credential git erase`: git's server refused a credential. If it is still the session's, the session is renewed, as after a 401 of our
/// own. Nothing else is erased. It asks nothing and starts no login: git reports a refusal, and wants nothing.
struct GitErase: CredentialWork {
    let request: GitCredential
    let url: String

    func run(_ source: CredentialSource) async throws {
        guard let refused = request.credential ?? request.password else { return }
        Terminal.forbid()
        let present: IssuedCredential
        do {
            guard try await source.isPresent() else { return }
            present = try await source.credential(for: url)
        } catch is SettingSourceError {
            // A credential that would have to be asked for isn't kept here.
            return
        }
        let secret =
            switch try present.form() {
            case .bearer(let token), .authorization(_, let token): token
            case .basic(_, let password): password
            case .field(_, let value): value
            }
        // Another process may have renewed it meanwhile.
        guard refused == secret else { return }
        try await source.renew(after: request.challenges, for: url)
    }
}

extension CredentialSource {
    /// Whether there is a credential without a login: a stored session, or what the settings hold.
    fileprivate func isPresent() async throws -> Bool {
        guard let loaded = try PluginLoader(arguments: arguments, console: console).scheme(), loaded.instance.scheme.hasFlows
        else { return true }
        guard !arguments.has(.noStore) else { return false }
        let login = try SchemeLogin(arguments: arguments, console: console, session: session, scheme: loaded)
        guard let storage = try await login.store().openIfExists() else { return false }
        return try await login.storedName(in: storage) != nil
    }

    /// Renews the session's token, because a server refused it.
    ///
    /// - Parameter challenges: the values of the server's `WWW-Authenticate`.
    func renew(after challenges: [String], for url: String) async throws {
        guard let loaded = try PluginLoader(arguments: arguments, console: console).scheme(), loaded.instance.scheme.hasFlows
        else {
            return console.warning("the server refused the credential for \(url); check the settings\(profileText)")
        }
        let login = try SchemeLogin(arguments: arguments, console: console, session: session, scheme: loaded)
        let interceptor = try await login.interceptor()
        let provider = NetworkProvider(
            session: RefusedTransport(session: session, challenges: challenges), interceptor: InterceptorChain([interceptor]))
        let request = try HTTPRequest(.get, url)
        let options = RequestOptions(redirects: .none, schemeParameters: login.parameters)
        let response = try await Interruption.shared.cancelling(on: session.executor, gracePeriod: SchemeLogin.gracePeriod) {
            let result: Result<HTTPResponse, any Error>
            do { result = .success(try await provider.send(request, options)) } catch { result = .failure(error) }
            await login.waitForPendingToken()
            return try result.get()
        }
        guard response.status == RefusedTransport.refusal else { return }
        console.warning(
            "the server refused the credential for \(url), and the session can't be renewed; log in again: "
                + LoginCommandLine.text(arguments))
    }

    private var profileText: String { arguments.value(.profile).map { " of the profile \($0)" } ?? "" }
}
