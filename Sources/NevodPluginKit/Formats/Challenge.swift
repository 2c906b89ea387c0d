/// One challenge of a WWW-Authenticate or Proxy-Authenticate line (RFC 9110 §11.3).
///
/// ```swift
/// let challenges = Challenge.parse(response.headers(named: "WWW-Authenticate"))
/// guard let digest = challenges.first(where: { $0.isOf("Digest") }), let nonce = digest["nonce"] else { … }
/// ```
public struct Challenge: Sendable, Equatable {
    /// What stands behind the scheme: `realm="x"` (RFC 9110 §11.2).
    public struct Parameter: Sendable, Equatable {
        /// As the server wrote it; compared without regard to case.
        public let name: String
        /// Without quotes and backslashes.
        public let value: String

        /// One to compare with, in tests of a scheme.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// As the server wrote it.
    public let scheme: String
    /// What stands in place of parameters: `Negotiate a87421==`.
    public internal(set) var token68: String?
    /// In order.
    public internal(set) var parameters: [Parameter]

    /// For tests of a scheme; ``parse(_:)`` makes those of an answer.
    public init(_ scheme: String, token68: String? = nil, _ parameters: [Parameter] = []) {
        self.scheme = scheme
        self.token68 = token68
        self.parameters = parameters
    }

    /// Schemes are compared without regard to case.
    public func isOf(_ scheme: String) -> Bool { self.scheme.equalsIgnoringCase(scheme) }

    /// The first parameter of that name, in any case of letters.
    public subscript(name: String) -> String? {
        parameters.first { $0.name.equalsIgnoringCase(name) }?.value
    }

    /// Reads all challenges of an answer, in order. Several in one line and one in several lines are the same (RFC 9110 §5.3).
    /// A line is read up to its first fault; the challenge with the fault, and what stands behind it in the line, is left out.
    ///
    /// - Parameter lines: the values of the answer's lines.
    public static func parse(_ lines: [String]) -> [Challenge] {
        lines.reduce(into: []) { challenges, line in
            for element in ChallengeElement.elements(of: line) {
                switch element {
                case .scheme(let name, let token68): challenges.append(Challenge(name, token68: token68))
                case .parameter(let parameter):
                    // One behind a token68, or in front of every scheme, belongs to nothing.
                    guard let last = challenges.indices.last, challenges[last].token68 == nil else { continue }
                    challenges[last].parameters.append(parameter)
                }
            }
        }
    }
}
