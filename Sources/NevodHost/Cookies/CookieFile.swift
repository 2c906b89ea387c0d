/// Netscape's cookie file format, which curl and Python's http.cookiejar use too (curl's "HTTP Cookies" page): one cookie per
/// line, as seven fields separated by tabs. The format has no field for SameSite or for the time of creation. The order of the
/// lines is the order of creation.
package enum CookieFile {
    package static func encode(_ cookies: [Cookie]) -> [UInt8] {
        let lines = cookies.sorted { $0.creation < $1.creation }.map { cookie in
            let fields = [
                (cookie.isHTTPOnly ? httpOnly : "") + (cookie.isHostOnly ? "" : ".") + cookie.domain,
                cookie.isHostOnly ? "FALSE" : "TRUE",
                cookie.path,
                cookie.isSecure ? "TRUE" : "FALSE",
                String(cookie.expires?.seconds ?? 0),
                cookie.name,
                cookie.value,
            ]
            return fields.joined(separator: "\t")
        }
        // Python rejects a file without this first line.
        return Array((["# Netscape HTTP Cookie File"] + lines).map { $0 + "\n" }.joined().utf8)
    }

    package static func decode(_ bytes: some Collection<UInt8>) throws(CookieFileError) -> [Cookie] {
        var cookies: [Cookie] = []
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            guard let text = String(validating: line, as: UTF8.self) else { throw CookieFileError(line: index + 1) }
            guard !text.isEmpty, !text.hasPrefix("#") || text.hasPrefix(httpOnly) else { continue }
            guard let cookie = cookie(text, creation: UnixTime(nanoseconds: Int64(index))) else {
                throw CookieFileError(line: index + 1)
            }
            cookies.append(cookie)
        }
        return cookies
    }

    private static func cookie(_ line: String, creation: UnixTime) -> Cookie? {
        let isHTTPOnly = line.hasPrefix(httpOnly)
        let fields = line.dropFirst(isHTTPOnly ? httpOnly.count : 0).utf8
            .split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false).map { String(Substring($0)) }
        guard fields.count == 7, let isDomainWide = flag(fields[1]), let isSecure = flag(fields[3]),
            let seconds = Int64(fields[4])
        else { return nil }
        let domain = fields[0].hasPrefix(".") ? String(fields[0].dropFirst()) : fields[0]
        // A valid domain doesn't begin with a dot. One that did would lose a dot each time it is written and read.
        guard !domain.hasPrefix(".") else { return nil }
        return Cookie(
            name: fields[5], value: fields[6], domain: domain,
            isHostOnly: !isDomainWide, path: fields[2], isSecure: isSecure, isHTTPOnly: isHTTPOnly,
            expires: seconds == 0 ? nil : UnixTime(seconds: seconds), creation: creation)
    }

    private static func flag(_ text: String) -> Bool? {
        switch text {
        case "TRUE": true
        case "FALSE": false
        default: nil
        }
    }

    private static let httpOnly = "#HttpOnly_"
}

/// A line of a cookie file is malformed. The error names the line but doesn't quote it: it may contain a cookie's value.
public struct CookieFileError: Error, Sendable, Hashable {
    /// Counted from 1.
    public let line: Int
}

extension CookieFileError: CustomStringConvertible {
    public var description: String {
        "line \(line) of the cookie file is malformed: it must have seven fields in UTF-8, separated by tabs, and a cookie named "
            + "__Host-… or __Secure-… must have the properties that its name promises"
    }
}
