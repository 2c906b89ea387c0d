/// An authentication scheme: its settings, and how it puts a credential on a request.
///
/// A scheme does no I/O and keeps no clock. Everything it may look at stands in the ``RequestView``; everything it may
/// change goes through ``Edits``. That is the whole difference from an HTTP client's middleware, which owns the request.
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
/// `authorize` runs on any thread, concurrently on one instance; that is why a scheme is `Sendable`.
public protocol AuthScheme: Sendable {
    /// `a-z`, `0-9` and `-`, beginning with a letter.
    static var id: String { get }
    /// For people: "HMAC request signature".
    static var title: String { get }

    /// Makes a scheme whose settings have been read. A struct whose other properties have defaults gets it for free.
    init()

    /// Runs once, after the settings are read: check them together, derive keys. Refuse with
    /// ``SchemeError/badSetting(_:_:)``.
    mutating func prepare() throws(SchemeError)

    /// What the host has to compute or copy for ``authorize(_:_:)``. Asked once, after ``prepare()``.
    var needs: Needs { get }

    /// Puts the credential on one request. Must not block.
    func authorize(_ request: borrowing RequestView, _ edits: Edits) throws(SchemeError)

    /// Sees the answer to a request that this scheme authorised, if ``needs`` asked for it: a challenge (RFC 9110 §11), a new
    /// nonce. Runs on any thread, concurrently.
    ///
    /// - Parameters:
    ///   - response: its body is not there.
    ///   - request: as it was sent, with the state that `authorize` was shown.
    ///   - edits: takes the state that requests to this origin are shown next, and a token that the answer brought.
    func respond(to response: borrowing ResponseView, _ request: borrowing RequestView, _ edits: ResponseEdits) -> Verdict
}

extension AuthScheme {
    public mutating func prepare() throws(SchemeError) {}
    public var needs: Needs { [] }
    public func respond(
        to response: borrowing ResponseView, _ request: borrowing RequestView, _ edits: ResponseEdits
    ) -> Verdict { .nothing }
}
