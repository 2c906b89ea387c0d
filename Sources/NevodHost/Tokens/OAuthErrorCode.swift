/// The `error` of a token endpoint's answer (RFC 6749 §5.2).
struct OAuthErrorCode: Hashable {
    let rawValue: String

    static let invalidClient = OAuthErrorCode("invalid_client")

    /// Those that say that the grant itself is worth nothing any more. (`bad_refresh_token` is GitHub's, `expired_token` of
    /// RFC 8628, `token_expired` and `token_revoked` are Slack's.)
    static let refusals: Set<OAuthErrorCode> = Set(
        ["invalid_grant", "bad_refresh_token", "expired_token", "token_expired", "token_revoked", "access_denied"]
            .map(OAuthErrorCode.init))

    private init(_ rawValue: String) {
        self.rawValue = rawValue
    }

    /// From JSON, `{"error": "invalid_grant"}`, or a form, `error=invalid_grant`; nil if there is none.
    init?(inBody body: [UInt8]) {
        let text = String(decoding: body, as: UTF8.self)
        guard let value = Self.jsonMember("error", of: text) ?? Self.formField("error", of: text) else { return nil }
        rawValue = value
    }

    /// A string member of the outermost object. Codes hold no escapes.
    private static func jsonMember(_ name: String, of text: String) -> String? {
        var depth = 0
        var strings: [Substring] = []
        var isValue = false
        var rest = text[...]
        while let character = rest.popFirst() {
            switch character {
            case "{", "[":
                depth += 1
                isValue = false
            case "}", "]": depth -= 1
            case ":": isValue = true
            case ",": isValue = false
            case "\"":
                var string = rest.prefix(0)
                var isEscaped = false
                let start = rest.startIndex
                while let next = rest.first, isEscaped || next != "\"" {
                    isEscaped = next == "\\" && !isEscaped
                    rest.removeFirst()
                }
                string = text[start..<rest.startIndex]
                rest = rest.dropFirst()
                guard depth == 1 else { continue }
                if isValue, strings.last == name[...] { return String(string) }
                strings = [string]
            default: break
            }
        }
        return nil
    }

    private static func formField(_ name: String, of text: String) -> String? {
        text.split(separator: "&").first { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.count + 1)) }
    }
}
