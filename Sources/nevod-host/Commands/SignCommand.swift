import NevodHost

/// `sign`: prints the authorized request, byte for byte as in HTTP/1.1. Sends nothing, apart from a login if the scheme needs
/// one. The output contains the credential on purpose.
struct SignCommand {
    let arguments: Arguments
    let console: Console
    let session: CurlSession

    func run() async throws {
        let operations = try arguments.operations
        guard let arguments = operations.first, operations.count == 1 else {
            throw UsageError("sign takes one URL, but \(operations.count) were given")
        }
        let (request, typedNames) = try RequestBuilder(arguments: arguments).build()
        let authorization = try await RequestAuthorization(arguments, console, session)
        guard authorization.scheme != nil else { throw UsageError("sign needs a --plugin") }
        let chain = InterceptorChain(try authorization.interceptors(for: request, typedNames: typedNames))
        let transport = try authorization.cookies?.transport(session, for: request) ?? session
        let signed = try await NetworkProvider(session: transport, interceptor: chain).authorize(
            request, RequestOptions(schemeParameters: authorization.parameters))
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
