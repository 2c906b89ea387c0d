import NevodHost

/// `sign`: prints the authorised request, byte for byte as HTTP/1.1 would carry it, and sends nothing. Its output holds the
/// credential: that is what it is asked for.
struct SignCommand {
    let arguments: Arguments
    let console: Console
    let session: CurlSession

    func run() async throws {
        let request = try RequestBuilder(arguments: arguments).request()
        guard let token = try PluginLoader(arguments: arguments, console: console).token() else {
            throw UsageError("sign needs a --plugin that says how")
        }
        let signed = try await NetworkProvider(session: session, interceptor: try userInterceptor(), signer: token).authorize(
            request)
        if arguments.has(.curl) {
            return try FileDescriptor.standardOutput.write(Array((CurlCommand(request: signed).text() + "\n").utf8).span)
        }
        let head = ["\(signed.method) \(signed.target) HTTP/1.1"] + signed.headers.map { "\($0.name): \($0.value)" }
        try FileDescriptor.standardOutput.write(Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8).span)
        if case .bytes(let body) = signed.body { try FileDescriptor.standardOutput.write(body.span) }
    }

    private func userInterceptor() throws -> InterceptorChain {
        guard let user = arguments.value(.user) else { return InterceptorChain([]) }
        return InterceptorChain([TokenInterceptor(try UserSource(console: console).credential(user))])
    }
}
