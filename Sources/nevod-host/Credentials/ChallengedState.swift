import NevodHost

/// The conversation of `--digest` or `--anyauth` with one server: a state machine without I/O.
struct ChallengedState {
    /// The credential that a request carries.
    enum Step: Equatable {
        /// No credential, and no content either where it would only be refused.
        case probe(withoutContent: Bool)
        /// No credential: the server doesn't ask for one.
        case plain
        case basic
        /// - Parameter count: how many requests have used the challenge's nonce, this one included.
        case digest(DigestChallenge, count: Int)
    }

    /// Whether Basic is allowed if the server asks for it and not for a digest.
    private let allowsBasic: Bool
    private var step: Step
    private var hasFailed = false
    /// Whether the last probe had content that it left out.
    private var leftContentOut = false

    init(allowsBasic: Bool) {
        self.allowsBasic = allowsBasic
        // As curl: --digest knows that a challenge comes, and --anyauth doesn't.
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
    ///   - status: the response's.
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
