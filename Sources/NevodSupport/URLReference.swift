/// A URL reference as servers write it in Location: absolute, or relative to the URL of the response (RFC 3986 §5.2).
package struct URLReference {
    private let text: String

    package init(_ text: String) {
        self.text = text
    }

    /// The URL that the reference refers to. An absolute reference is returned unchanged; a relative one has its dot segments
    /// resolved.
    ///
    /// - Parameters:
    ///   - origin: includes the scheme, without a trailing slash.
    ///   - target: the path, which begins with a slash, and an optional query.
    package func resolved(against origin: String, _ target: String) -> String {
        if hasScheme { return text }
        if text.hasPrefix("//") { return "\(origin.prefix { $0 != ":" }):\(text)" }
        let base = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let reference = text.prefix { $0 != "#" }
        if reference.isEmpty { return "\(origin)\(target)" }
        if reference.first == "?" { return "\(origin)\(base[0])\(reference)" }
        let path = reference.prefix { $0 != "?" }
        let query = reference[path.endIndex...]
        let merged = path.first == "/" ? String(path) : String(Self.folder(of: base[0]) + path)
        return "\(origin)\(Self.withoutDots(merged))\(query)"
    }

    /// Whether the reference begins with a scheme: a letter, then up to a colon before any other delimiter (RFC 3986 §3.1).
    private var hasScheme: Bool {
        let beginning = text.prefix { !":/?#".contains($0) }
        guard beginning.endIndex < text.endIndex, text[beginning.endIndex] == ":", let first = beginning.first else {
            return false
        }
        return first.isASCII && first.isLetter
            && beginning.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
    }

    private static func folder(of path: Substring) -> Substring {
        path.lastIndex(of: "/").map { path[...$0] } ?? "/"
    }

    /// Removes dot segments (RFC 3986 §5.2.4).
    package static func withoutDots(_ path: String) -> String {
        var kept: [Substring] = []
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch segment {
            case ".": if isLast { kept.append("") }
            case "..":
                _ = kept.popLast()
                if isLast { kept.append("") }
            default: kept.append(segment)
            }
        }
        return "/" + kept.joined(separator: "/")
    }
}
