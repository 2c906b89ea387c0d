/// A refusal of an introspection or revocation endpoint, with the code that it gives (RFC 6749 §5.2).
public struct TokenServiceError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reason for a refusal.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// The server's text, such as `invalid_client`.
        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The server doesn't know the client, or its credential is wrong.
        public static let invalidClient = Code(rawValue: "invalid_client")
        /// A parameter is missing, or occurs twice.
        public static let invalidRequest = Code(rawValue: "invalid_request")
        /// The client may not use the endpoint.
        public static let unauthorizedClient = Code(rawValue: "unauthorized_client")
        /// The server doesn't revoke tokens of this kind (RFC 7009 §2.2.1).
        public static let unsupportedTokenType = Code(rawValue: "unsupported_token_type")

        /// Nil for a text that no server may send (RFC 6749 §5.2).
        init?(received text: String) {
            guard !text.isEmpty, text.utf8.count <= 64,
                text.utf8.allSatisfy({ (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") })
            else { return nil }
            rawValue = text
        }
    }

    /// The reason.
    public let code: Code
    /// The status of the response.
    public let status: Int
    /// The endpoint's URL, without its query.
    public let endpoint: String

    public var description: String {
        let remedy =
            switch code {
            case .invalidClient: "; check the client's identifier and secret"
            case .unauthorizedClient: "; let the server allow this client to use the endpoint"
            case .unsupportedTokenType: "; the server doesn't revoke tokens of this kind"
            default: ""
            }
        return "\(endpoint) refused the request: \(code.rawValue) (status \(status))\(remedy)"
    }
}
