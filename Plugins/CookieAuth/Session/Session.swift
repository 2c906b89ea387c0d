internal import NevodPluginKit
internal import NevodSupport

/// The scheme's token: the session's cookies, and the CSRF token of its unsafe requests.
struct Session: Equatable, Sendable {
    var jar: Jar
    /// The token from a page or another response; nil if there is none, or if a cookie holds it.
    var csrf: IssuedCSRF?
    /// A random number from the login. It ties a CSRF token that the host keeps to this session.
    let id: String

    init(_ jar: Jar = Jar(), csrf: IssuedCSRF? = nil, id: String = "") {
        (self.jar, self.csrf, self.id) = (jar, csrf, id)
    }
}

/// A CSRF token that a server has issued.
struct IssuedCSRF: Equatable, Sendable {
    let value: String
    /// The origin that issued it, and the only one that gets it.
    let origin: String
}

extension Session {
    /// The form in which the host keeps a page's token for later requests of this session.
    func kept(_ csrf: IssuedCSRF) -> String { "\(id)\t\(csrf.encoded)" }

    /// Reads a kept token; nil if it belongs to another session.
    func kept(_ text: String) -> IssuedCSRF? {
        guard let tab = text.utf8.firstIndex(of: 0x09), text.utf8[..<tab].elementsEqual(id.utf8) else { return nil }
        return IssuedCSRF(decoding: String(text[text.utf8.index(after: tab)...]))
    }
}

extension IssuedCSRF {
    /// The form in which the session stores it: the origin, a tab, the value. Neither has a tab or a line break.
    var encoded: String { "\(origin)\t\(value)" }

    init?(decoding text: String) {
        guard let tab = text.utf8.firstIndex(of: 0x09) else { return nil }
        let (origin, value) = (text[..<tab], text[text.utf8.index(after: tab)...])
        guard !origin.isEmpty, !value.isEmpty, !value.utf8.contains(where: { $0.isControl }) else { return nil }
        self.init(value: String(value), origin: String(origin))
    }
}

/// The stored form of a session. The first line is the format's version, a tab and the session's id. The second line is the CSRF
/// token, or empty. Each other line is a cookie with tabs between its fields: flags, expiry, domain, path, name, value. No field
/// holds a tab or a line break.
extension Session: SchemeToken {
    private static let version = "2"
    /// The version of the format that had no line for the CSRF token.
    private static let before = "1"

    init(decoding bytes: Span<UInt8>) throws(SchemeError) {
        let session: Session? = bytes.withUnsafeBufferPointer { bytes in
            var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
            guard let version = lines.popFirst(), lines.popLast()?.isEmpty == true else { return nil }
            var csrf: IssuedCSRF?
            var id = ""
            let mark = version.prefix { $0 != 0x09 }
            if mark.elementsEqual(Self.version.utf8) {
                id = String(decoding: version[mark.endIndex...].dropFirst(), as: UTF8.self)
                guard id.isEmpty == (mark.count == version.count), id.utf8.allSatisfy({ $0.isTokenByte }) else { return nil }
                guard let line = lines.popFirst(), let text = String(validating: line, as: UTF8.self) else { return nil }
                csrf = IssuedCSRF(decoding: text)
                guard csrf != nil || line.isEmpty else { return nil }
            } else {
                guard version.elementsEqual(Self.before.utf8) else { return nil }
            }
            let cookies = lines.compactMap { JarCookie(decoding: $0) }
            return cookies.count == lines.count ? Session(Jar(cookies), csrf: csrf, id: id) : nil
        }
        guard let session else {
            throw .badToken("the stored cookies are damaged, or from another version of this plugin")
        }
        self = session
    }

    var encoded: Secret {
        let head = "\(Self.version)\(id.isEmpty ? "" : "\t")\(id)\n\(csrf?.encoded ?? "")\n"
        return withByteWriter(capacity: head.utf8.count + jar.encodedCount) { bytes in
            bytes.append(Array(head.utf8).span)
            for cookie in jar.cookies {
                bytes.append(Array(cookie.encodedHead.utf8).span)
                cookie.value.withUnsafeBytes { bytes.append(Span(_unsafeBytes: $0)) }
                bytes.append(ascii: "\n")
            }
            return Secret(bytes.bytes)
        }
    }
}

extension Jar {
    /// The size of the cookies' stored form in bytes.
    var encodedCount: Int { cookies.reduce(0) { $0 + $1.encodedCount } }
}

extension JarCookie {
    var encodedCount: Int { encodedHead.utf8.count + value.count + 1 }

    /// The line up to the value.
    fileprivate var encodedHead: String {
        let flags = (isHostOnly ? "h" : "") + (isSecure ? "s" : "")
        return "\(flags)\t\(expiry.map(String.init) ?? "")\t\(domain)\t\(path)\t\(name)\t"
    }

    fileprivate init?(decoding line: UnsafeBufferPointer<UInt8>.SubSequence) {
        let fields = line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
        guard fields.count == 6, fields[0].allSatisfy({ $0 == UInt8(ascii: "h") || $0 == UInt8(ascii: "s") }) else { return nil }
        let texts = fields[1...4].compactMap { String(validating: $0, as: UTF8.self) }
        guard texts.count == 4, !texts[1].isEmpty, texts[2].utf8.first == UInt8(ascii: "/"), !texts[3].isEmpty else { return nil }
        let expiry = Int64(texts[0])
        guard texts[0].isEmpty || expiry != nil else { return nil }
        let (isHostOnly, isSecure) = (fields[0].contains(UInt8(ascii: "h")), fields[0].contains(UInt8(ascii: "s")))
        guard CookieName.keepsItsPrefix(texts[3], isSecure: isSecure, isHostOnly: isHostOnly, path: texts[2]) else { return nil }
        self.init(
            name: texts[3], value: Secret(copying: UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: fields[5]))),
            domain: texts[1], isHostOnly: isHostOnly, path: texts[2], isSecure: isSecure, expiry: expiry)
    }
}
