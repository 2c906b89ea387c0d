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

    /// The phase in which the token goes on a request. The default is ``TokenPhase/credential``.
    static var phase: TokenPhase { get }

    /// The requirement of a route that the token meets. The default is ``AuthRequirement/bearerToken``.
    static var requirement: AuthRequirement { get }

    /// Whether `authorize` reads the body of the request, as for a signature over it. True by default.
    ///
    /// It matters only to a token written against another library's request, which holds no streams. A body that is read while it is
    /// sent, such as a form with several parts or a file, is then read into memory first, up to 64 MiB; a longer one, or one that
    /// can be read only once, fails the request with an ``UnshownBodyError``. A token that returns false sees no such body.
    static var readsBody: Bool { get }

    /// When the token expires. A token with an expiry is renewed before it. To give a token of your own an expiry, declare a
    /// property of this name whose type is a ``TimePoint``; nothing else is needed.
    var expiresAt: Expiry { get }

    /// Puts the token on a request.
    func authorize(_ request: inout Request) throws

    /// Returns the bytes to store, from which ``decode(from:)`` recreates the token. They contain the secret, so a store must
    /// protect them.
    func encode() throws -> Encoded
    /// Throws for bytes that ``encode()`` didn't produce.
    static func decode(from data: Encoded) throws -> Self

    /// Puts the token on a request, given all that the host knows about its exchange. The default calls the simpler method
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
