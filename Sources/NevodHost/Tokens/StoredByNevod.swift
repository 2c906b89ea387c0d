internal import NevodSupport

/// A type of token that Nevod had too, and stored in a format of its own.
protocol NevodToken: TokenModel {
    /// Whether the value is in this type's format.
    static func isFormat(_ stored: StoredByNevod) -> Bool
}

/// A value in one of the formats in which Nevod stored its own types of tokens: JSON, as Foundation's `JSONEncoder` writes it.
///
/// An object counts only if it has exactly the members of its format: a bearer that merely looks like JSON is left alone.
enum StoredByNevod {
    case bearer(String)
    case apiKey(APIKeyToken)
    case queryAPIKey(QueryAPIKeyToken)
    /// Members of each cookie by name.
    case cookies([JSONValue])

    /// Nil for bytes in any other format.
    init?(_ data: [UInt8]) {
        // Spares other formats the parser.
        let first = data.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
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
