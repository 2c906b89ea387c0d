import NevodHost
import NevodSupport

/// How a relative URL is joined to a profile's `url`.
extension Profile {
    /// Returns the URL for an operand: with the base `https://host/v1?tenant=1`, `/orders?all` becomes
    /// `https://host/v1/orders?tenant=1&all`. An absolute operand stays the same, as does any operand without a base. Exactly one
    /// slash joins base and operand; nothing else is changed, not even `//` and `/../`. (By RFC 3986 §5, `/orders` would leave
    /// `/v1`.)
    func url(for operand: String) -> String {
        guard let baseURL, !Self.isAbsolute(operand) else { return operand }
        let (basePath, baseQuery) = Self.cut(baseURL[...], at: "?")
        let (rest, fragment) = Self.cut(operand[...], at: "#")
        let (path, query) = Self.cut(rest, at: "?")
        var url = String(basePath)
        if !path.isEmpty {
            if url.utf8.last == UInt8(ascii: "/") { url.removeLast() }
            url += "/"
            url += path.utf8.first == UInt8(ascii: "/") ? String(decoding: path.utf8.dropFirst(), as: UTF8.self) : String(path)
        }
        let queries = [baseQuery, query].compactMap { $0 }.filter { !$0.isEmpty }
        // Keeps a question mark without a query if it was typed.
        if !queries.isEmpty || baseQuery != nil || query != nil { url += "?" + queries.joined(separator: "&") }
        if let fragment { url += "#" + fragment }
        return url
    }

    /// Whether an operand begins with a scheme (RFC 3986 §3.1) and `://`. Any other colon may be part of a path.
    private static func isAbsolute(_ operand: String) -> Bool {
        let scheme = operand.utf8.prefix(while: \.isSchemeByte)
        return scheme.first?.isLetter == true && operand.utf8[scheme.endIndex...].starts(with: "://".utf8)
    }

    private static func cut(_ text: Substring, at mark: Unicode.Scalar) -> (Substring, Substring?) {
        guard let index = text.utf8.firstIndex(of: UInt8(ascii: mark)) else { return (text, nil) }
        return (text[..<index], text[text.utf8.index(after: index)...])
    }
}
