internal import NevodPluginKit
internal import NevodSupport

/// The stored form of a jar. The first line is the format's version; each other line is a cookie with tabs between its fields: flags,
/// expiry, domain, path, name, value. No field holds a tab or a line break.
extension Jar: SchemeToken {
    private static let version = "1"

    init(decoding bytes: Span<UInt8>) throws(SchemeError) {
        let jar: Jar? = bytes.withUnsafeBufferPointer { bytes in
            let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            guard lines.count >= 2, lines[0].elementsEqual(Self.version.utf8), lines.last?.isEmpty == true else { return nil }
            let cookies = lines.dropFirst().dropLast().compactMap { JarCookie(decoding: $0) }
            return cookies.count == lines.count - 2 ? Jar(cookies) : nil
        }
        guard let jar else {
            throw .badToken("the stored cookies are damaged, or of another version of this plugin")
        }
        self = jar
    }

    /// The size of the stored form in bytes.
    var encodedCount: Int {
        cookies.reduce(Self.version.utf8.count + 1) { $0 + $1.encodedCount }
    }

    var encoded: Secret {
        withByteWriter(capacity: encodedCount) { bytes in
            bytes.append(Array("\(Self.version)\n".utf8).span)
            for cookie in cookies {
                bytes.append(Array(cookie.encodedHead.utf8).span)
                cookie.value.withUnsafeBytes { bytes.append(Span(_unsafeBytes: $0)) }
                bytes.append(ascii: "\n")
            }
            return Secret(bytes.bytes)
        }
    }
}

extension JarCookie {
    var encodedCount: Int { encodedHead.utf8.count + value.count + 1 }

    /// The line up to the value.
    fileprivate var encodedHead: String {
        let flags = (isHostOnly ? "h" : "") + (isSecure ? "s" : "")
        return "\(flags)\t\(expires.map(String.init) ?? "")\t\(domain)\t\(path)\t\(name)\t"
    }

    fileprivate init?(decoding line: UnsafeBufferPointer<UInt8>.SubSequence) {
        let fields = line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
        guard fields.count == 6, fields[0].allSatisfy({ $0 == UInt8(ascii: "h") || $0 == UInt8(ascii: "s") }) else { return nil }
        let texts = fields[1...4].compactMap { String(validating: $0, as: UTF8.self) }
        guard texts.count == 4, !texts[1].isEmpty, texts[2].utf8.first == UInt8(ascii: "/"), !texts[3].isEmpty else { return nil }
        let expires = Int64(texts[0])
        guard texts[0].isEmpty || expires != nil else { return nil }
        let (isHostOnly, isSecure) = (fields[0].contains(UInt8(ascii: "h")), fields[0].contains(UInt8(ascii: "s")))
        guard CookieName.keepsItsPrefix(texts[3], isSecure: isSecure, isHostOnly: isHostOnly, path: texts[2]) else { return nil }
        self.init(
            name: texts[3], value: Secret(copying: UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: fields[5]))),
            domain: texts[1], isHostOnly: isHostOnly, path: texts[2], isSecure: isSecure, expires: expires)
    }
}
