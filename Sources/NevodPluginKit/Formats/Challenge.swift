internal import NevodSupport

/// One challenge of a WWW-Authenticate or Proxy-Authenticate line (RFC 9110 §11.3).
///
/// ```swift
/// let challenges = Challenge.parse(response.headers(named: "WWW-Authenticate"))
/// guard let digest = challenges.first(where: { $0.isOf("Digest") }), let nonce = digest["nonce"] else { … }
/// ```
public struct Challenge: Sendable, Equatable {
    /// A parameter of the challenge: `realm="x"` (RFC 9110 §11.2).
    public struct Parameter: Sendable, Equatable {
        /// The name as the server wrote it; compared without regard to case.
        public let name: String
        /// The value without quotes and backslashes.
        public let value: String

        /// Creates a parameter to compare with in tests.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The scheme's name as the server wrote it.
    public let scheme: String
    /// The credential text in place of parameters: `Negotiate a87421==`.
    public internal(set) var token68: String?
    /// The parameters in order.
    public internal(set) var parameters: [Parameter]

    /// Creates a challenge for tests; ``parse(_:)`` reads the challenges of a response.
    public init(_ scheme: String, token68: String? = nil, _ parameters: [Parameter] = []) {
        self.scheme = scheme
        self.token68 = token68
        self.parameters = parameters
    }

    /// Whether the challenge is of that scheme, compared without regard to case.
    public func isOf(_ scheme: String) -> Bool { self.scheme.equalsIgnoringCase(scheme) }

    /// The value of the first parameter of that name, in any letter case.
    public subscript(name: String) -> String? {
        parameters.first { $0.name.equalsIgnoringCase(name) }?.value
    }

    /// Reads all challenges of a response, in order. A line may have several; this means the same as one in each line (RFC 9110
    /// §5.3). A line is read up to its first fault; the challenge with the fault and the rest of the line are left out.
    ///
    /// - Parameter lines: the values of the response's lines.
    public static func parse(_ lines: [String]) -> [Challenge] {
        lines.reduce(into: []) { challenges, line in
            for element in ChallengeElement.elements(of: line) {
                switch element {
                case .scheme(let name, let token68): challenges.append(Challenge(name, token68: token68))
                case .parameter(let name, let value):
                    // A parameter after a token68, or before any scheme, belongs to no challenge.
                    guard let last = challenges.indices.last, challenges[last].token68 == nil else { continue }
                    challenges[last].parameters.append(Parameter(name, value))
                }
            }
        }
    }
}

/// A cookie in a request: a name and a value (RFC 6265 §4.2). `SetCookieLine` is for the cookies of a response.
public struct CookiePair: Sendable, Equatable {
    /// The text before the first `=`, without surrounding white space.
    public let name: String
    /// The text after it, with its quotes.
    public let value: String

    /// Creates a cookie.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Reads a Cookie line, in order, repeated names included. Parts without `=` or without a name are left out.
    public static func parse(_ line: String) -> [CookiePair] {
        line.utf8.split(separator: UInt8(ascii: ";")).compactMap { part in
            let name = part.prefix { $0 != UInt8(ascii: "=") }
            guard name.endIndex < part.endIndex else { return nil }
            let cookie = CookiePair(name.withoutSpaceAround, part[name.endIndex...].dropFirst().withoutSpaceAround)
            return cookie.name.isEmpty ? nil : cookie
        }
    }
}

extension String {
    /// Compares as HTTP compares names: the case of ASCII letters is ignored.
    package func equalsIgnoringCase(_ other: some StringProtocol) -> Bool {
        utf8.elementsEqual(other.utf8) { $0.lowercased == $1.lowercased }
    }
}
