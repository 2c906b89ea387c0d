internal import NevodSupport

/// The URL of a route: the service's, the endpoint below it, and the parameters behind both.
enum RouteURL {
    /// - Parameters:
    ///   - base: absolute. Its path comes first, its query comes first.
    ///   - endpoint: a path, with or without a slash at its beginning, and perhaps a query. Kept byte for byte.
    ///   - parameters: appended to the query, list by list.
    static func make(base: String, endpoint: String, parameters: [ParameterList]) throws(InvalidRequestError) -> String {
        guard !base.utf8.contains(UInt8(ascii: "#")) else {
            throw InvalidRequestError(.url(base), "the address of a service has no fragment")
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
        // An endpoint that ends with a question mark keeps it.
        return url + "?" + queries.filter { !$0.isEmpty }.joined(separator: "&")
    }

    /// A query, if there is one, without its question mark.
    private static func split(_ text: String) -> (path: Substring, query: Substring?) {
        guard let mark = text.utf8.firstIndex(of: UInt8(ascii: "?")) else { return (text[...], nil) }
        return (text[..<mark], text[text.utf8.index(after: mark)...])
    }

    /// Refuses what could lead out of the service, here, in a proxy, or in the server: parts of endpoints are other people's
    /// text.
    private static func check(_ endpoint: String) throws(InvalidRequestError) {
        let bytes = Array(endpoint.utf8)
        let path = bytes.prefix { $0 != UInt8(ascii: "?") }
        let problem: String? =
            if bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
                "it holds a control character, such as a line break"
            } else if bytes.contains(UInt8(ascii: "#")) {
                "it holds a fragment, which is never sent; write # as %23"
            } else if path.contains(UInt8(ascii: "\\")) {
                "it holds a backslash, which some servers take for a slash; write it as %5C"
            } else if path.starts(with: [UInt8(ascii: "/"), UInt8(ascii: "/")]) {
                "it begins with //, which names a host; an endpoint is a path"
            } else if beginsWithScheme(path) {
                "it is an absolute URL; an endpoint is a path below its service's"
            } else if leavesFolder(path) {
                "it holds . or .. as a segment, which leads to another folder"
            } else {
                nil
            }
        if let problem { throw InvalidRequestError(.url(endpoint), problem) }
    }

    /// `https:/`. A colon alone is a path's own, as in `/users:batch`.
    private static func beginsWithScheme(_ path: ArraySlice<UInt8>) -> Bool {
        guard let colon = path.firstIndex(of: UInt8(ascii: ":")), path[colon...].dropFirst().first == UInt8(ascii: "/") else {
            return false
        }
        return path[..<colon].allSatisfy {
            Character(Unicode.Scalar($0)).isLetter || Character(Unicode.Scalar($0)).isNumber || "+-.".utf8.contains($0)
        }
    }

    /// Looks for dots as each of the servers on the way might see them: percent-encodings resolved, once or several times, an
    /// encoded slash or backslash as a border, what follows a semicolon as a parameter of the segment (RFC 3986 §3.3).
    private static func leavesFolder(_ path: ArraySlice<UInt8>) -> Bool {
        var text = Array(path)
        while true {
            let segments = text.split(omittingEmptySubsequences: false) { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
            for segment in segments {
                let name = segment.prefix { $0 != UInt8(ascii: ";") }
                if name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8) { return true }
            }
            let decoded = PercentEncoding.decoded(text)
            // Each round is shorter, or the last.
            guard decoded.count < text.count else { return false }
            text = decoded
        }
    }
}
