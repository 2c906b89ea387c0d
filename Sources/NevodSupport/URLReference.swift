/// A URL reference as servers write it in Location: absolute, or relative to the URL of the response (RFC 3986 §5.2).
package struct URLReference {
    private let text: String

    package init(_ text: String) {
        self.text = text
    }

    /// The URL that the reference refers to. An absolute reference is returned unchanged. In a relative one, dot segments are
    /// resolved.
    ///
    /// - Parameters:
    ///   - origin: includes the scheme, without a trailing slash.
    ///   - target: the path, which begins with a slash, and an optional query.
    package func resolved(against origin: String, _ target: String) -> String {
        // Read byte by byte: a combining mark after a delimiter must not hide the delimiter.
        let text = self.text.utf8
        if hasScheme { return self.text }
        if text.starts(with: "//".utf8) { return "\(Substring(origin.utf8.prefix { $0 != UInt8(ascii: ":") })):\(self.text)" }
        let base = target.utf8.prefix { $0 != UInt8(ascii: "?") }
        let reference = text.prefix { $0 != UInt8(ascii: "#") }
        if reference.isEmpty { return "\(origin)\(target)" }
        if reference.first == UInt8(ascii: "?") { return "\(origin)\(Substring(base))\(Substring(reference))" }
        let path = reference.prefix { $0 != UInt8(ascii: "?") }
        let query = Substring(reference[path.endIndex...])
        let merged =
            path.first == UInt8(ascii: "/") ? String(Substring(path)) : "\(Self.folder(of: base))\(Substring(path))"
        return "\(origin)\(Self.withoutDots(merged))\(query)"
    }

    /// The URL that the reference refers to as a place at the base's origin. The base's path counts as a folder's: a slash is
    /// added if it doesn't end with one.
    ///
    /// - Parameter base: an absolute URL.
    /// - Returns: nil if the reference is empty or has a scheme or an authority of its own, or if the base is invalid.
    package func resolved(toPathOf base: String) -> String? {
        let bytes = base.utf8.prefix { $0 != UInt8(ascii: "#") }
        guard !text.utf8.isEmpty, !hasScheme, !text.utf8.starts(with: "//".utf8),
            let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8)
        else { return nil }
        let rest = bytes[colon...].dropFirst(3)
        let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        let path = rest[authority.endIndex...].prefix { $0 != UInt8(ascii: "?") }
        let slash = path.last == UInt8(ascii: "/") ? "" : "/"
        return resolved(
            against: String(Substring(bytes[..<authority.endIndex])),
            "\(Substring(path))\(slash)\(Substring(bytes[path.endIndex...]))")
    }

    /// Whether the reference begins with a scheme: a letter, then letters, digits, `+`, `-` or `.` up to a colon (RFC 3986 §3.1).
    private var hasScheme: Bool {
        let beginning = text.utf8.prefix { !":/?#".utf8.contains($0) }
        guard beginning.endIndex < text.endIndex, text.utf8[beginning.endIndex] == UInt8(ascii: ":"),
            let first = beginning.first, first.isLetter
        else { return false }
        return beginning.allSatisfy { $0.isSchemeByte }
    }

    private static func folder(of path: Substring.UTF8View) -> Substring {
        path.lastIndex(of: UInt8(ascii: "/")).map { Substring(path[...$0]) } ?? "/"
    }

    /// Removes dot segments (RFC 3986 §5.2.4).
    package static func withoutDots(_ path: String) -> String {
        var kept: [Substring] = []
        let segments = path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            if segment.elementsEqual(".".utf8) {
                if isLast { kept.append("") }
            } else if segment.elementsEqual("..".utf8) {
                _ = kept.popLast()
                if isLast { kept.append("") }
            } else {
                kept.append(Substring(segment))
            }
        }
        return "/" + kept.joined(separator: "/")
    }
}
