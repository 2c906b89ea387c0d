import NevodHost

/// Says which `-H` lines the plugin has replaced. Runs after all others: what the plugin writes wins, since it signs what is sent.
struct ReplacedLines: RequestInterceptor {
    let typed: HTTPRequest
    let typedNames: Set<String>
    let console: Console

    var phase: TokenPhase { .signature }

    func adapt(_ exchange: inout Exchange) async throws {
        guard exchange.attempt == 1 else { return }
        for name in typedNames.sorted() {
            guard let value = typed.headers[name], let sent = exchange.request.headers[name], sent != value else { continue }
            console.warning("the plugin replaced the \(name) line of -H")
        }
    }
}
