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

/// The conversation of `--digest` or `--anyauth` with one server: a state machine without I/O.
struct ChallengedState {
    /// The credential that a request carries.
    enum Step: Equatable {
        /// No credential, and no content if the server would refuse it anyway.
        case probe(withoutContent: Bool)
        /// No credential: the server doesn't ask for one.
        case plain
        case basic
        /// - Parameter count: the number of requests that have used the challenge's nonce, this one included.
        case digest(DigestChallenge, count: Int)
    }

    /// Whether Basic may be used if the server asks for it and not for Digest.
    private let allowsBasic: Bool
    private var step: Step
    private var hasFailed = false
    /// Whether the last probe left out the content of its request.
    private var leftContentOut = false

    init(allowsBasic: Bool) {
        self.allowsBasic = allowsBasic
        // As in curl, --digest expects a challenge, and --anyauth doesn't.
        step = .probe(withoutContent: !allowsBasic)
    }

    /// Returns what the next request carries.
    mutating func next(hasContent: Bool) -> Step {
        leftContentOut = step == .probe(withoutContent: true) && hasContent
        if case .digest(let challenge, let count) = step { step = .digest(challenge, count: count + 1) }
        return step
    }

    /// Decides, after a response, whether the request is sent again.
    ///
    /// - Parameters:
    ///   - status: the status of the response.
    ///   - lines: the values of its `WWW-Authenticate` lines.
    mutating func retries(after status: Int, _ lines: [String]) -> Bool {
        guard status == 401 else {
            guard leftContentOut, status < 300 else { return false }
            step = .plain
            return true
        }
        guard !hasFailed else { return false }
        let challenge = DigestChallenge(lines)
        switch step {
        case .probe, .plain:
            if let challenge {
                step = .digest(challenge, count: 0)
            } else if allowsBasic, lines.contains(where: { $0.utf8.prefix(5).elementsEqual("Basic".utf8) }) {
                step = .basic
            } else {
                return false
            }
            return true
        case .digest:
            // Without `stale`, the password is wrong.
            guard let challenge, challenge.isStale else {
                hasFailed = true
                return false
            }
            hasFailed = true
            step = .digest(challenge, count: 0)
            return true
        case .basic:
            hasFailed = true
            return false
        }
    }
}
