internal import NevodSupport

/// The cookies of a session. Each is sent only with requests that it matches (RFC 6265 §5.4): to its domain and path, over
/// `https` if it is secure, until it expires.
///
/// Stored in the cookie file format that curl also reads and writes (`curl -b`, `curl -c`).
public struct CookieToken: TokenModel, Hashable {
    /// In any order. Selected and sorted for each request.
    public var sessionCookies: [Cookie]

    /// - Parameter sessionCookies: the cookies that a login has set. To read them from its response, see
    ///   ``merging(setCookiesOf:to:now:addingNew:)``.
    public init(sessionCookies: [Cookie]) {
        self.sessionCookies = sessionCookies
    }

    /// Takes all cookies of the jar, for any host.
    public init(jar: CookieJar) {
        sessionCookies = Array(jar)
    }

    public static var requirement: AuthRequirement { .sessionCookie }

    /// When the last cookie expires; nil if at least one is a session cookie.
    public var expiresAt: UnixTime? {
        let expiries = sessionCookies.map(\.expires)
        return expiries.contains(nil) ? nil : expiries.compactMap { $0 }.max()
    }

    public func authorize(_ request: inout HTTPRequest) throws {
        try authorize(&request, now: HostClock.system.now)
    }

    /// Puts the cookies that match a request on it.
    ///
    /// - Parameters:
    ///   - request: selects the cookies by its URL.
    ///   - now: the time that decides which cookies have expired.
    public func authorize(_ request: inout HTTPRequest, now: UnixTime) throws(InvalidRequestError) {
        try request.setCookies(sessionCookies.sent(with: request, now: now))
    }

    public func encode() throws -> [UInt8] {
        CookieFile.encode(sessionCookies)
    }

    /// Reads a cookie file, or the JSON array in which Nevod stored cookies. Cookies that no server can set are dropped, because
    /// they can't be sent.
    ///
    /// - Throws: ``CookieFileError``; for a JSON array that holds anything else, ``UnreadableTokenError``.
    public static func decode(from data: [UInt8]) throws -> CookieToken {
        if let cookies = StoredByNevod(data)?.cookies {
            return CookieToken(sessionCookies: try cookies.compactMap { try Cookie(storedByNevod: $0) })
        }
        return CookieToken(sessionCookies: try CookieFile.decode(data))
    }

    /// Returns the token with the changes that a response makes to its cookies; nil if it makes none.
    ///
    /// - Parameters:
    ///   - response: its `Set-Cookie` lines are applied by the rules of ``CookieJar``.
    ///   - request: the request that the response belongs to; after redirects, the last one.
    ///   - now: the start of the lifetimes of the response's cookies.
    ///   - addingNew: whether to add cookies that the token doesn't contain, as after a login. Otherwise the response can only
    ///     replace and delete cookies that it contains.
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

extension CookieToken: NevodToken {
    static func isFormat(_ stored: StoredByNevod) -> Bool { stored.cookies != nil }
}

extension Cookie {
    /// Reads a cookie as Nevod stored it: `{"name":"…","value":"…","domain":"…","path":"…","expiresDate":…,"isSecure":…,
    /// "isHTTPOnly":…}`, with the date as seconds since 2001. Returns nil for a cookie that no server can set.
    ///
    /// - Throws: ``UnreadableTokenError`` if a member is missing.
    init?(storedByNevod json: JSONValue) throws(UnreadableTokenError) {
        func text(_ name: String) throws(UnreadableTokenError) -> String {
            guard let text = json[name]?.string else { throw UnreadableTokenError(missing: "\(name) of a cookie") }
            return text
        }
        let domain = try text("domain")
        let isHostOnly = !domain.hasPrefix(".")
        let (name, value, path) = (try text("name"), try text("value"), try text("path"))
        self.init(
            name: name, value: value, domain: isHostOnly ? domain : String(domain.dropFirst()), isHostOnly: isHostOnly,
            path: path, isSecure: json["isSecure"]?.bool ?? false, isHTTPOnly: json["isHTTPOnly"]?.bool ?? false,
            expires: json["expiresDate"].flatMap(Self.time))
    }

    private static func time(_ json: JSONValue) -> UnixTime? {
        let seconds: Double? =
            switch json {
            case .integer(let seconds): Double(seconds)
            case .number(let seconds): seconds
            default: nil
            }
        // Limited to what a UnixTime can hold; the reference date is 2001-01-01T00:00:00Z.
        return seconds.map { UnixTime(seconds: 978_307_200) + .seconds(min(max($0, -9e9), 8e9)) }
    }
}
