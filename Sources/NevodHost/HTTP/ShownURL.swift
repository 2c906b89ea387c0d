/// Makes a URL safe to show in an error, also one that can't be parsed: most faults of a URL are in or near its password.
package enum ShownURL {
    /// Redacts text before an @, wherever it is, and a port that isn't a number, which may be a password without its host.
    package static func text(_ url: String) -> String {
        let start = url.range(ofASCII: "://")?.upperBound ?? url.startIndex
        if let at = url.utf8.lastIndex(of: UInt8(ascii: "@")), at >= start { return url[..<start] + "[redacted]" + url[at...] }
        let authority = url.utf8[start...].prefix { !"/?#\"' ".utf8.contains($0) }
        // The colons of an IPv6 address stand before the bracket, which may be missing.
        guard authority.first != UInt8(ascii: "[") || authority.contains(UInt8(ascii: "]")) else { return url }
        let host = authority.lastIndex(of: UInt8(ascii: "]")) ?? authority.startIndex
        guard let colon = authority[host...].firstIndex(of: UInt8(ascii: ":")) else { return url }
        // Punctuation after the number belongs to the sentence around the URL.
        let rest = authority[colon...].dropFirst().drop { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
        return rest.allSatisfy { ",.:;)".utf8.contains($0) } ? url : url[...colon] + "[redacted]"
    }
}
