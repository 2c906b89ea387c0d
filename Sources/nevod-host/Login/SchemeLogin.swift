import NevodHost

/// Lets a scheme that has flows log in, and gives what authorises requests then. One without sends nothing.
struct SchemeLogin {
    let arguments: Arguments
    let console: Console
    let session: CurlSession

    /// People think as long as they like, so a login is over before a request's time begins.
    func interceptor(for instance: SchemeInstance) async throws -> any RequestInterceptor {
        let given = try GivenAnswers(arguments.values(.answer), console: console)
        defer { for complaint in given.complaints { console.warning(complaint) } }
        // A session costs a short process a twelfth of its instructions.
        if instance.authorizesAlone { return TokenInterceptor(instance.token) }
        let notes = LoginNotes(console: console)
        let transport = LoginTransport(
            session: session, notes: notes, console: console,
            connectTimeout: try SessionBuilder(arguments: arguments).options().connectTimeout)
        let scheme = SchemeSession(
            instance, storage: InMemoryStorage(), session: transport,
            interaction: TerminalInteraction(scheme: instance.scheme, given: given, notes: notes, console: console))
        if instance.scheme.hasFlows {
            try await Interruption.shared.cancelling(on: session.executor) { try await scheme.login() }
        }
        return scheme.interceptor
    }
}
