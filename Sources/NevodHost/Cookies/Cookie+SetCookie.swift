extension Cookie {
    /// Reads a `Set-Cookie` line (RFC 6265 §5.2, §5.3), with the prefixes and limits of its successor (draft 6265bis).
    ///
    /// - Parameters:
    ///   - line: the field's value.
    ///   - request: the one that was answered with it: it says for whom a cookie may be set.
    ///   - now: when the answer came.
    /// - Returns: nil when the line is malformed, or sets what this origin may not set. A server deletes a cookie by one that
    ///   has expired already.
    public init?(setCookie line: String, from request: HTTPRequest, now: UnixTime) {
        var pairs = line.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map(Self.pair)
        let (name, value) = pairs.removeFirst()
        guard HTTPSyntax.isFieldValue(line), let value else { return nil }
        let attributes = Attributes(pairs, now: now)
        let host = request.origin.host

        var domain = host
        var isHostOnly = true
        if let attribute = attributes.domain {
            guard let canonical = Self.canonicalDomain(attribute), Self.host(host, matches: canonical) else { return nil }
            let isPublic = PublicSuffix.contains(canonical)
            guard canonical == host || !isPublic else { return nil }
            domain = canonical
            isHostOnly = isPublic || Self.isAddress(host)
        }
        guard request.origin.scheme == .https || !attributes.isSecure,
            Self.prefix(of: name, allows: attributes, isHostOnly: isHostOnly)
        else { return nil }
        self.init(
            name: name, value: value, domain: domain, isHostOnly: isHostOnly,
            path: attributes.path ?? Self.defaultPath(request.cookiePath), isSecure: attributes.isSecure,
            isHTTPOnly: attributes.isHTTPOnly, sameSite: attributes.sameSite, expires: attributes.expires, creation: now)
    }

    /// All that an answer sets, in its order.
    static func cookies(setBy response: HTTPResponse, to request: HTTPRequest, now: UnixTime) -> [Cookie] {
        response.headers.values(of: "Set-Cookie").compactMap { Cookie(setCookie: $0, from: request, now: now) }
    }

    private static func pair(_ text: Substring.UTF8View) -> (name: String, value: String?) {
        let name = text.prefix { $0 != UInt8(ascii: "=") }
        let value = name.endIndex < text.endIndex ? text[name.endIndex...].dropFirst().withoutSpaceAround : nil
        return (name.withoutSpaceAround, value)
    }

    /// What a name beginning with `__Secure-` or `__Host-` promises its server (draft 6265bis §4.1.3), in any case of letters.
    private static func prefix(of name: String, allows attributes: Attributes, isHostOnly: Bool) -> Bool {
        let name = name.lowercased().utf8
        if name.starts(with: "__host-".utf8) { return attributes.isSecure && isHostOnly && attributes.path == "/" }
        return attributes.isSecure || !name.starts(with: "__secure-".utf8)
    }

    /// RFC 6265 §5.1.4: the folder that was asked for.
    private static func defaultPath(_ path: String) -> String {
        let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[..<$0] } ?? ""
        return folder.isEmpty ? "/" : String(folder)
    }

    /// What stands behind the name and the value; of an attribute that stands there twice, the last one counts.
    private struct Attributes {
        var domain: String?
        var path: String?
        var isSecure = false
        var isHTTPOnly = false
        var sameSite: SameSite?
        private var date: UnixTime?
        private var maxAge: UnixTime?

        /// Max-Age wins over Expires.
        var expires: UnixTime? { maxAge ?? date }

        init(_ pairs: [(name: String, value: String?)], now: UnixTime) {
            for (name, value) in pairs {
                let value = value ?? ""
                guard value.utf8.count <= Self.mostBytes else { continue }
                switch name.lowercased() {
                case "domain":
                    let name = value.utf8.first == UInt8(ascii: ".") ? String(Substring(value.utf8.dropFirst())) : value
                    if !name.isEmpty { domain = name }
                case "path": path = value.utf8.first == UInt8(ascii: "/") ? value : nil
                case "expires": date = CookieDate.parse(value) ?? date
                case "max-age": maxAge = Self.time(value, after: now) ?? maxAge
                case "secure": isSecure = true
                case "httponly": isHTTPOnly = true
                case "samesite": sameSite = SameSite(rawValue: value.lowercased())
                default: break
                }
            }
        }

        /// RFC 6265 §5.2.2: from zero down, the earliest time there is; beyond what can be counted, the latest.
        private static func time(_ maxAge: String, after now: UnixTime) -> UnixTime? {
            let isNegative = maxAge.utf8.first == UInt8(ascii: "-")
            let digits = isNegative ? maxAge.dropFirst() : maxAge[...]
            guard !digits.isEmpty, digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
                return nil
            }
            let seconds = isNegative ? 0 : Int64(digits) ?? .max
            return seconds == 0 ? UnixTime(nanoseconds: .min) : now + .seconds(seconds)
        }

        /// Of an attribute's value (draft 6265bis §5.5).
        private static let mostBytes = 1024
    }
}

extension Substring.UTF8View {
    /// Without the spaces and tabs at both ends.
    var withoutSpaceAround: String {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        var text = drop(while: isSpace)
        while let last = text.last, isSpace(last) { text = text.dropLast() }
        return String(Substring(text))
    }
}
