import NevodHost

/// `sign`: prints the authorized request, byte for byte as HTTP/1.1 would carry it, and sends nothing but the login that a
/// scheme may need. The output contains the credential on purpose.
struct SignCommand {
    let arguments: Arguments
    let console: Console
    let session: CurlSession

    func run() async throws {
        let request = try RequestBuilder(arguments: arguments).request()
        guard let loaded = try PluginLoader(arguments: arguments, console: console).scheme() else {
            throw UsageError("sign needs a --plugin")
        }
        let user: (any RequestInterceptor)? = try arguments.value(.user).map {
            TokenInterceptor(try UserSource(console: console).credential($0))
        }
        let login = try SchemeLogin(arguments: arguments, console: console, session: session, scheme: loaded)
        let scheme = try await login.interceptor()
        let chain = InterceptorChain([user, scheme].compactMap { $0 })
        let signed = try await NetworkProvider(session: session, interceptor: chain).authorize(
            request, RequestOptions(schemeParameters: login.parameters))
        if arguments.has(.curl) {
            return try output(CurlCommand(request: signed).text())
        }
        let head = ["\(signed.method) \(signed.target) HTTP/1.1"] + signed.headers.map { "\($0.name): \($0.value)" }
        var output = try BodyOutput(nil)
        try output.write(Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8))
        if case .bytes(let body) = signed.body { try output.write(body) }
        try output.finish()
    }
}
