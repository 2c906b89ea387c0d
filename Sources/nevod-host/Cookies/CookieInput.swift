import NevodHost

/// A file of cookies: Netscape's format, or the head of a response with its `Set-Cookie` lines, line by line as curl reads it.
struct CookieInput {
    let cookies: [Cookie]
    /// The number of the first line that is meant as a cookie and isn't one; nil if there is none.
    let unreadableLine: Int?

    /// - Parameters:
    ///   - request: decides the domain and the path of a `Set-Cookie` line that doesn't name them. (curl sends such a cookie to
    ///     every host.)
    ///   - now: the start of the lifetimes of `Set-Cookie` lines.
    init(_ bytes: [UInt8], for request: HTTPRequest, now: UnixTime) {
        var read: [Cookie] = []
        var unreadable: Int?
        var netscape: [UInt8] = []
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            let text = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            if let value = Self.setCookieValue(text) {
                if let cookie = Cookie(setCookie: value, from: request, now: now) {
                    read.append(cookie)
                } else {
                    unreadable = unreadable ?? index + 1
                }
            } else if text.contains(UInt8(ascii: "\t")) {
                if (try? CookieFile.decode(text)) != nil {
                    netscape += text + [UInt8(ascii: "\n")]
                } else {
                    unreadable = unreadable ?? index + 1
                }
            } else if !Self.isHeadOrComment(text) {
                unreadable = unreadable ?? index + 1
            }
        }
        // Together, so that their order is that of the lines.
        cookies = ((try? CookieFile.decode(netscape)) ?? []) + read
        unreadableLine = unreadable
    }

    private static func setCookieValue(_ line: ArraySlice<UInt8>) -> String? {
        let name = "set-cookie:"
        guard String(decoding: line.prefix(name.utf8.count), as: UTF8.self).lowercased() == name,
            let text = String(validating: line.dropFirst(name.utf8.count), as: UTF8.self)
        else { return nil }
        return String(text.drop { $0 == " " })
    }

    /// Whether a line is empty, a comment, or another line of a response's head.
    private static func isHeadOrComment(_ line: ArraySlice<UInt8>) -> Bool {
        line.isEmpty || line.first == UInt8(ascii: "#") || line.starts(with: "HTTP/".utf8) || line.contains(UInt8(ascii: ":"))
    }
}
