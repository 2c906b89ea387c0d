/// An authentication scheme: its settings, and how it puts a credential on a request.
///
/// A scheme does no I/O and keeps no clock. It reads the request through ``RequestView`` and changes it through ``Edits``, whereas
/// an HTTP client's middleware owns the request.
///
/// ```swift
/// struct CustomHeader: AuthScheme {
///     static let id = "custom-header"
///     static let title = "Two fixed headers"
///
///     @Setting("client-id", help: "Sent in X-Client-ID") var clientID: String
///     @Setting("client-secret", help: "Sent in X-Client-Secret") var clientSecret: Secret
///
///     func authorize(_ request: borrowing RequestView, _ edits: Edits) {
///         edits.setHeader("X-Client-ID", clientID)
///         edits.setHeader("X-Client-Secret", clientSecret)
///     }
/// }
/// ```
///
/// `authorize` runs on any thread, concurrently on one instance, so a scheme is `Sendable`.
public protocol AuthScheme: Sendable {
    /// The scheme's id: `a-z`, `0-9` and `-`, beginning with a letter.
    static var id: String { get }
    /// A title to show to people: "HMAC request signature".
    static var title: String { get }
    /// The parameters that a caller may attach to a request, such as a `scope`. None by default.
    static var parameters: [ParameterDeclaration] { get }
    /// Whether a function of the scheme may wait for something outside, such as a smart card or an agent, or compute for longer
    /// than a millisecond. If so, the host runs it on a thread that may block. False by default.
    static var blocks: Bool { get }
    /// Whether the same request gets a different credential each time, because the signature algorithm draws a random number, as
    /// ECDSA does. False by default.
    static var isNondeterministic: Bool { get }
    /// Whether the scheme authorizes requests to proxies too; `authorize` then looks at ``RequestView/isForProxy``. Otherwise a
    /// request to a proxy is refused. False by default.
    static var authorizesProxies: Bool { get }

    /// Creates a scheme from the settings. A struct whose other properties have defaults gets this initialiser for free.
    init()

    /// Runs once, after the settings are read, to check them together and derive keys. Throw ``SchemeError/badSetting(_:_:)`` to
    /// refuse them.
    mutating func prepare() throws(SchemeError)

    /// The scheme's entry in the plugin's table, which the kit implements.
    static var schemeTable: SchemeTable { get }

    /// The data that the host has to compute or copy for ``authorize(_:_:)``. Read once, after ``prepare()``.
    var needs: Needs { get }

    /// The statuses, 300 … 599, that are challenges of this scheme in addition to 401 and 403: at most 16. They need
    /// ``Needs/challenges``. Read once, after ``prepare()``; empty by default.
    var challengeStatuses: [Int] { get }

    /// The media types, such as `text/html`, whose 2xx responses are challenges of this scheme too: at most 16, without
    /// parameters. They need ``Needs/challenges``. Read once, after ``prepare()``; empty by default.
    var challengeTypes: [String] { get }

    /// Puts the credential on one request. Must not block.
    func authorize(_ request: borrowing RequestView, _ edits: Edits) throws(SchemeError)

    /// Handles the response to a request that this scheme authorized, if ``needs`` asks for responses: a challenge (RFC 9110 §11),
    /// a new nonce, the server's signature. Runs on any thread, concurrently.
    ///
    /// - Parameters:
    ///   - response: the response. It has a body only if ``needs`` asks for one.
    ///   - request: the request as it was sent, with the state that `authorize` got.
    ///   - edits: takes the state for later requests to this origin, and a token from the response.
    /// - Throws: if the response can't be trusted. The request then fails with the error's message, nothing of the body reaches the
    ///   caller, and `edits` are dropped.
    func respond(
        to response: borrowing ResponseView, _ request: borrowing RequestView, _ edits: ResponseEdits
    ) throws(SchemeError) -> Verdict
}

extension AuthScheme {
    public static var schemeTable: SchemeTable { SchemeTable(of: Self.self) }
    public static var parameters: [ParameterDeclaration] { [] }
    public static var blocks: Bool { false }
    public static var isNondeterministic: Bool { false }
    public static var authorizesProxies: Bool { false }
    public mutating func prepare() throws(SchemeError) {}
    public var needs: Needs { [] }
    public var challengeStatuses: [Int] { [] }
    public var challengeTypes: [String] { [] }
    public func respond(
        to response: borrowing ResponseView, _ request: borrowing RequestView, _ edits: ResponseEdits
    ) throws(SchemeError) -> Verdict { .nothing }
}

/// A parameter that a caller may attach to a request, such as the `scope` of the token that it needs. (A ``Setting``, in contrast,
/// has one value for all requests.)
///
/// ```swift
/// static let parameters = [
///     ParameterDeclaration("scope", isRepeatable: true, help: "What the request may do"),
///     ParameterDeclaration("acr", .choice, choices: ["low", "high"], default: "low", help: "How sure the login must be"),
/// ]
/// ```
///
/// The host checks the values. A scheme reads them with ``RequestView/parameter(_:)`` and ``AuthFlow/parameter(_:)``, and gets a
/// separate token for each set of values.
public struct ParameterDeclaration: Sendable {
    let declaration: SettingDeclaration

    /// - Parameters:
    ///   - name: `a-z`, `0-9` and `-`, beginning with a letter.
    ///   - kind: the form of the values, which the host checks.
    ///   - choices: the values of a ``SettingKind/choice``.
    ///   - default: the value for requests that have none; empty for no default.
    ///   - isRequired: whether the host refuses a request without a value.
    ///   - isRepeatable: whether it may have several values, in order.
    ///   - help: one line, without a full stop.
    public init(
        _ name: StaticString, _ kind: SettingKind = .text, choices: [String] = [], default: String = "",
        isRequired: Bool = false, isRepeatable: Bool = false, help: StaticString
    ) {
        var flags: SettingFlags = []
        if isRequired { flags.insert(.required) }
        if isRepeatable { flags.insert(.repeatable) }
        declaration = SettingDeclaration(
            name: name, help: help, kind: kind, flags: flags, choices: choices, defaultText: `default`)
    }
}
