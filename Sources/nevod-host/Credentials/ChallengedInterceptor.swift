import NevodHost
import NevodSupport

/// Authorizes when the server asks for it: `--digest` and `--anyauth` (RFC 7616, RFC 7617).
final class ChallengedInterceptor: RequestInterceptor {
    private let userAndPassword: Secret
    private let state: Locked<ChallengedState>

    init(_ userAndPassword: Secret, allowsBasic: Bool) {
        self.userAndPassword = userAndPassword
        state = Locked(ChallengedState(allowsBasic: allowsBasic))
    }

    func adapt(_ exchange: inout Exchange) async throws {
        guard exchange.mayCarryCredentials else { return }
        let hasContent = exchange.request.body.length != 0
        switch state.withLock({ $0.next(hasContent: hasContent) }) {
        case .plain: break
        case .probe(let withoutContent):
            if withoutContent { exchange.request.body = .none }
        case .basic: try BasicCredential(userAndPassword).authorize(&exchange.request)
        case .digest(let challenge, let count):
            let request = exchange.request
            let value = challenge.authorization(
                userAndPassword, method: "\(request.method)", target: request.target, count: count, clientNonce: Self.nonce())
            guard let value else {
                throw UsageError("this system's libcrypto refuses the hash function of the server's digest challenge")
            }
            try exchange.request.setHeader("Authorization", value)
        }
    }

    func retry(_ exchange: inout Exchange, after outcome: Result<HTTPResponse, TransportError>) async throws -> Bool {
        guard exchange.mayCarryCredentials, case .success(let response) = outcome else { return false }
        let lines = response.headers.values(of: "WWW-Authenticate")
        return state.withLock { $0.retries(after: response.status, lines) }
    }

    private static func nonce() -> String {
        var generator = SystemRandomNumberGenerator()
        return Hexadecimal.text((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
}
