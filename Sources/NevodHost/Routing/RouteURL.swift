internal import NevodSupport

/// Builds the URL of a route from the service's base URL, the endpoint and the parameters.
enum RouteURL {
    /// - Parameters:
    ///   - base: an absolute URL. Its path precedes the endpoint's, its query the other queries.
    ///   - endpoint: a path, with or without a leading slash, and optionally a query. Kept byte for byte.
    ///   - parameters: appended to the query, list by list.
    static func make(base: String, endpoint: String, parameters: [ParameterList]) throws(InvalidRequestError) -> String {
        guard !base.utf8.contains(UInt8(ascii: "#")) else {
            throw InvalidRequestError(.url(base), "a service's base URL can't have a fragment")
        }
        try check(endpoint)
        let (basePath, baseQuery) = split(base)
        let (path, query) = split(endpoint)
        var url = String(basePath)
        if !path.isEmpty {
            while url.utf8.last == UInt8(ascii: "/") { url.removeLast() }
            url += path.utf8.first == UInt8(ascii: "/") ? "" : "/"
            url += path
        }
        let queries = [baseQuery, query].compactMap { $0.map(String.init) } + parameters.map(\.query).filter { !$0.isEmpty }
        guard !queries.isEmpty else { return url }
        // A question mark at the end of an endpoint is kept.
        return url + "?" + queries.filter { !$0.isEmpty }.joined(separator: "&")
    }

    /// Splits off the query, without its question mark; nil if there is none.
    private static func split(_ text: String) -> (path: Substring, query: Substring?) {
        guard let mark = text.utf8.firstIndex(of: UInt8(ascii: "?")) else { return (text[...], nil) }
        return (text[..<mark], text[text.utf8.index(after: mark)...])
    }

    /// Rejects endpoints that this host, a proxy or the server could resolve to a path outside the service, since parts of an
    /// endpoint can come from untrusted input.
    private static func check(_ endpoint: String) throws(InvalidRequestError) {
        let bytes = Array(endpoint.utf8)
        let path = bytes.prefix { $0 != UInt8(ascii: "?") }
        let problem: String? =
            if bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
                "it holds a control character, such as a line break"
            } else if bytes.contains(UInt8(ascii: "#")) {
                "it holds a fragment, which is never sent; write # as %23"
            } else if path.contains(UInt8(ascii: "\\")) {
                "it holds a backslash, which some servers treat as a slash; write it as %5C"
            } else if path.starts(with: [UInt8(ascii: "/"), UInt8(ascii: "/")]) {
                "it starts with //, so a host would follow; an endpoint is a path"
            } else if startsWithScheme(path) {
                "it is an absolute URL; an endpoint is a path below the service's"
            } else if hasDotSegment(path) {
                "it has . or .. as a segment, which leads to another folder"
            } else {
                nil
            }
        if let problem { throw InvalidRequestError(.url(endpoint), problem) }
    }

    /// Whether the path starts with a scheme, as in `https:/`. A colon without a slash belongs to the path, as in `/users:batch`.
    private static func startsWithScheme(_ path: ArraySlice<UInt8>) -> Bool {
        guard let colon = path.firstIndex(of: UInt8(ascii: ":")), path[colon...].dropFirst().first == UInt8(ascii: "/") else {
            return false
        }
        return path[..<colon].allSatisfy {
            Character(Unicode.Scalar($0)).isLetter || Character(Unicode.Scalar($0)).isNumber || "+-.".utf8.contains($0)
        }
    }

    /// Whether any server on the path could see a dot segment: after decoding percent-encodings once or repeatedly, with an
    /// encoded slash or backslash as a separator, and text after a semicolon as a parameter of the segment (RFC 3986 §3.3).
    private static func hasDotSegment(_ path: ArraySlice<UInt8>) -> Bool {
        var text = Array(path)
        while true {
            let segments = text.split(omittingEmptySubsequences: false) { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
            for segment in segments {
                let name = segment.prefix { $0 != UInt8(ascii: ";") }
                if name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8) { return true }
            }
            let decoded = PercentEncoding.decoded(text)
            // Each round shortens the text, or is the last.
            guard decoded.count < text.count else { return false }
            text = decoded
        }
    }
}
