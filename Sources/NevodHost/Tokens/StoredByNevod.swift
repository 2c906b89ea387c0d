internal import NevodSupport

/// A value in one of the formats in which Nevod stored its own types of tokens: JSON, as Foundation's `JSONEncoder` writes it.
///
/// An object counts only if it has exactly the members of its format: a bearer token that merely looks like JSON is left alone.
enum StoredByNevod {
    case bearer(String)
    case apiKey(APIKeyToken)
    case queryAPIKey(QueryAPIKeyToken)
    /// One JSON object for each cookie.
    case cookies([JSONValue])

    /// Nil for bytes in any other format.
    init?(_ data: [UInt8]) {
        // Skips the parser for other formats.
        let first = data.first { !$0.isBlankOrLineBreak }
        guard first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else { return nil }
        guard let json = try? JSONValue(parsing: data.span, size: data.count, repeatedNames: .refused) else { return nil }
        switch json {
        case .array(let cookies):
            self = .cookies(cookies)
        case .object(let members):
            let texts = members.compactMap { member in member.value.string.map { (member.name, $0) } }
            guard texts.count == members.count else { return nil }
            let fields = Dictionary(texts) { $1 }
            if fields.count == 1, let value = fields["value"] {
                self = .bearer(value)
            } else if fields.count == 2, let key = fields["apiKey"], let header = fields["headerName"] {
                self = .apiKey(APIKeyToken(apiKey: key, headerName: header))
            } else if fields.count == 2, let key = fields["apiKey"], let parameter = fields["paramName"] {
                self = .queryAPIKey(QueryAPIKeyToken(apiKey: key, paramName: parameter))
            } else {
                return nil
            }
        default:
            return nil
        }
    }

    var bearer: String? { if case .bearer(let value) = self { value } else { nil } }
    var apiKey: APIKeyToken? { if case .apiKey(let token) = self { token } else { nil } }
    var queryAPIKey: QueryAPIKeyToken? { if case .queryAPIKey(let token) = self { token } else { nil } }
    var cookies: [JSONValue]? { if case .cookies(let cookies) = self { cookies } else { nil } }
}

/// A type of token that Nevod had too, and stored in its own format.
protocol NevodToken: TokenModel {
    /// Whether the value is in this type's format.
    static func isFormat(_ stored: StoredByNevod) -> Bool
}

extension AnyKeyValueStorage {
    /// Returns the same storage, in which `key` also leads to a token that Nevod stored under its default key. Nevod used that
    /// key for all types of tokens. So a value in the format of one of Nevod's own types is read only as that type, however
    /// tolerant another type's `decode` is: one service's credential must not be sent to another.
    func adoptingNevods<Token: TokenModel>(_ type: Token.Type, as key: StorageKey) -> AnyKeyValueStorage {
        adopting("com.nevod.token", as: key) { value in
            let bytes = value.copied(as: [UInt8].self)
            let own = Token.self as? any NevodToken.Type
            if let stored = StoredByNevod(bytes) { return own?.isFormat(stored) == true }
            // Nevod stored its own types only in the formats above.
            return own == nil && (try? Token.decode(from: Token.Encoded(bytes))) != nil
        }
    }
}
