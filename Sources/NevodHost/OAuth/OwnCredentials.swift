/// Takes back what a provider's other interceptors have written on a request if it may be a credential, which is for the API and not
/// for its authorization server: lines with a secret's name, whatever a token wrote, and changes of the URL. Other lines stay.
struct OwnCredentials: RequestInterceptor {
    private let url: String
    private let lines: [HTTPHeaders.Element]

    var phase: TokenPhase { .signature }

    init(of request: HTTPRequest) {
        url = request.url
        lines = request.headers.filter { Self.isSecret($0.name) }
    }

    func adapt(_ exchange: inout Exchange) async throws {
        exchange.request.stripCredentials()
        for name in Set(exchange.request.headers.map(\.name)) where Self.isSecret(name) { exchange.request.removeHeader(name) }
        for line in lines { try exchange.request.addHeader(line.name, line.value) }
        guard !exchange.request.url.utf8.elementsEqual(url.utf8) else { return }
        try exchange.request.redirect(to: url, leavingOut: [])
        exchange.request.removeHeader("Host")
        exchange.request.materialize()
    }

    private static func isSecret(_ name: String) -> Bool { RedactedNames.default.contains(name.utf8) }
}
