/// The cookies of a session. Each goes only where its server meant it to go (RFC 6265 §5.4): to its domain and path, over
/// `https` if it is a secure one, until it expires.
///
/// Stored as a cookie file, which curl reads and writes too (`curl -b`, `curl -c`).
public struct CookieToken: TokenModel, Hashable {
    /// Any order; those that a request gets, and the order in which it does, are decided anew for each.
    public var sessionCookies: [Cookie]

    /// - Parameter sessionCookies: those that a login answered with. To read them from the answer itself, see ``merging(setCookiesOf:to:now:addingNew:)``.
    public init(sessionCookies: [Cookie]) {
        self.sessionCookies = sessionCookies
    }

    /// All cookies of the jar, whatever their hosts.
    public init(jar: CookieJar) {
        sessionCookies = Array(jar)
    }

    /// When the last of the cookies ends; nil where one lasts as long as the server likes.
    public var expiresAt: UnixTime? {
        let ends = sessionCookies.map(\.expires)
        return ends.contains(nil) ? nil : ends.compactMap { $0 }.max()
    }

    public func authorize(_ request: inout HTTPRequest) throws {
        try authorize(&request, now: HostClock.system.now)
    }

    /// - Parameters:
    ///   - request: decides which cookies go with it.
    ///   - now: what tells which cookies have expired.
    public func authorize(_ request: inout HTTPRequest, now: UnixTime) throws(InvalidRequestError) {
        try request.setCookies(sessionCookies.sent(with: request, now: now))
    }

    public func encode() throws -> [UInt8] {
        CookieFile.encode(sessionCookies)
    }

    /// - Throws: ``CookieFileError``.
    public static func decode(from data: [UInt8]) throws -> CookieToken {
        CookieToken(sessionCookies: try CookieFile.decode(data))
    }

    /// The token after an answer that sets cookies anew, or deletes them; nil if it changes none.
    ///
    /// - Parameters:
    ///   - response: its `Set-Cookie` lines count by the rules of ``CookieJar``.
    ///   - request: the one that was answered: after redirects, the last.
    ///   - now: what the lifetimes of the answer's cookies count from.
    ///   - addingNew: whether cookies that the token doesn't hold are taken in, as after a login. Otherwise an answer only
    ///     replaces and deletes what the token holds.
    public func merging(
        setCookiesOf response: HTTPResponse, to request: HTTPRequest, now: UnixTime, addingNew: Bool = false
    ) -> CookieToken? {
        let before = CookieJar(sessionCookies)
        var after = before
        for cookie in Cookie.cookies(setBy: response, to: request, now: now)
        where addingNew || sessionCookies.contains(where: cookie.replaces) {
            after.set(cookie, by: request, now: now)
        }
        return after.elementsEqual(before) ? nil : CookieToken(jar: after)
    }
}
