internal import NevodSupport

/// A token that can be stored and put on a request. (A ``TokenModel`` knows how to authorize a request; an interceptor decides
/// which requests to authorize, and when.)
///
/// ```swift
/// struct CustomHeaderToken: TokenModel {
///     let clientID: String
///
///     func authorize(_ request: inout HTTPRequest) throws {
///         try request.setHeader("X-Client-ID", clientID)
///     }
///     func encode() throws -> [UInt8] { Array(clientID.utf8) }
///     static func decode(from data: [UInt8]) throws -> Self { Self(clientID: String(decoding: data, as: UTF8.self)) }
/// }
/// ```
public protocol TokenModel: Sendable {
    /// The type of request that `authorize` edits.
    associatedtype Request: RequestRepresentation = HTTPRequest
    /// The type of the encoded bytes.
    associatedtype Encoded: RangeReplaceableCollection<UInt8> & Sendable = [UInt8]

    /// The type of `expiresAt`.
    associatedtype Expiry: TimePoint = NoExpiry

    /// The phase in which the token is put on a request. The default is ``TokenPhase/credential``.
    static var phase: TokenPhase { get }

    /// The requirement of routes that this token meets. The default is ``AuthRequirement/bearerToken``.
    static var requirement: AuthRequirement { get }

    /// Whether `authorize` reads the body of the request, for example to sign it. True by default.
    ///
    /// Matters only if `Request` is another library's type, which can't hold a stream. A body that is read while it is sent, such
    /// as a file or a form with several parts, is then read into memory first, up to 64 MiB. A longer body, or one that can be
    /// read only once, fails the request with an ``UnshownBodyError``. A token that returns false doesn't see such a body.
    static var readsBody: Bool { get }

    /// When the token expires. The token is renewed before then. To give your own token an expiry, declare a property with this
    /// name and a ``TimePoint`` type; nothing else is needed.
    var expiresAt: Expiry { get }

    /// Puts the token on a request.
    func authorize(_ request: inout Request) throws

    /// Returns the bytes to store, from which ``decode(from:)`` recreates the token. They contain the secret, so a store must
    /// protect them.
    func encode() throws -> Encoded
    /// Throws for bytes that ``encode()`` didn't produce.
    static func decode(from data: Encoded) throws -> Self

    /// Puts the token on a request, with everything that the host knows about its exchange. The default calls the simpler method
    /// above, and records its edits as written by this token.
    func authorize(_ exchange: inout Exchange) async throws
}

extension TokenModel where Expiry == NoExpiry {
    public var expiresAt: NoExpiry { NoExpiry() }
}

extension TokenModel {
    public static var phase: TokenPhase { .credential }
    public static var requirement: AuthRequirement { .bearerToken }
    public static var readsBody: Bool { true }

    public func authorize(_ exchange: inout Exchange) async throws {
        let body =
            Request.holdsStreams
            ? .asItIs
            : try await ShownBody(of: exchange.request, as: Request.self, readsBody: Self.readsBody, by: "\(Self.self)")
        try exchange.edit(as: .token("\(Self.self)")) { request in
            var shaped: Request = body.shape(request)
            try authorize(&shaped)
            try body.write(shaped, to: &request)
        }
    }
}

/// A token that is encoded to and decoded from a `Secret`, without leaving an unwiped copy in memory.
protocol SecretlyStored: TokenModel {
    func encoded() -> Secret
    init(stored bytes: UnsafeRawBufferPointer) throws(UnreadableTokenError)
}

/// Makes the values of a type print, interpolate and dump as `[redacted]`.
public protocol Redacted: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Redacted {
    public var description: String { "\(Self.self) [redacted]" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
