internal import NevodSupport

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
        // Bounded by what a UnixTime holds; the reference date is 2001-01-01T00:00:00Z.
        return seconds.map { UnixTime(seconds: 978_307_200) + .seconds(min(max($0, -9e9), 8e9)) }
    }
}
