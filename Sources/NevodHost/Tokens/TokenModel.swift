/// A token: what it is, and how it goes on a request. (An interceptor decides when; a ``TokenModel`` knows only how.)
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
    /// The type of request that this token is written against.
    associatedtype Request: RequestRepresentation = HTTPRequest
    /// The type of bytes that this token is stored as.
    associatedtype Encoded: RangeReplaceableCollection<UInt8> & Sendable = [UInt8]

    /// The type of this token's expiry.
    associatedtype Expiry: TimePoint = NoExpiry

    /// When the token goes on a request. The default: ``TokenPhase/credential``.
    static var phase: TokenPhase { get }

    /// When the token ends. One that has it is renewed before its end; a token of your own that has a property of this name
    /// and such a type has it, without another word.
    var expiresAt: Expiry { get }

    /// Puts the token on a request.
    func authorize(_ request: inout Request) throws

    /// As it is stored; ``decode(from:)`` makes the same token of it. The bytes are the secret: a store must keep them from
    /// others.
    func encode() throws -> Encoded
    /// Fails for bytes that ``encode()`` didn't make.
    static func decode(from data: Encoded) throws -> Self

    /// The same with everything the host knows about the request's way. The default calls the simpler one above, and
    /// records what it wrote as this token's.
    func authorize(_ exchange: inout Exchange) async throws
}

extension TokenModel where Expiry == NoExpiry {
    public var expiresAt: NoExpiry { NoExpiry() }
}

extension TokenModel {
    public static var phase: TokenPhase { .credential }

    public func authorize(_ exchange: inout Exchange) async throws {
        try exchange.edit(as: .token("\(Self.self)")) { request in
            var shaped = Request(request)
            try authorize(&shaped)
            try shaped.write(to: &request)
        }
    }
}
