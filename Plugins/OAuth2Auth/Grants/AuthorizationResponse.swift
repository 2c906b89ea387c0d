internal import NevodPluginKit
internal import NevodSupport

/// The server's response that the browser brings (RFC 6749 §4.1.2). Anybody can send one, so that everything in it is checked.
struct AuthorizationResponse {
    private static let longestCode = 8192

    private let fields: FormFields

    init(_ fields: FormFields) {
        self.fields = fields
    }

    /// Reads the query of an address.
    init(address: String) {
        let query = address.utf8.prefix { $0 != UInt8(ascii: "#") }.drop { $0 != UInt8(ascii: "?") }.dropFirst()
        self.init(FormFields(parsing: String(Substring(query))))
    }

    /// Whether it is the response to the request with this state. Compares in constant time.
    func answers(_ state: Secret) -> Bool {
        let states = values("state")
        return states.count == 1 && states.allSatisfy { Secret($0) == state }
    }

    /// The code.
    ///
    /// - Throws: the server's error; or why the response may come from another server, or is none.
    func code(from server: Endpoints) throws(SchemeError) -> Secret {
        // First: even an error must not be believed if it is another server's (RFC 9207 §2.4).
        try checkIssuer(server)
        if let error = try value("error") { throw failure(error) }
        guard let code = try value("code") else { throw .denied("the browser's redirect has neither a code nor an error") }
        guard !code.isEmpty, code.utf8.count <= Self.longestCode, code.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else {
            throw .denied("the browser's redirect has a code that is none: empty, too long, or with characters that no code has")
        }
        return Secret(code)
    }

    /// Refuses another issuer's response, which a mix-up attack sends (RFC 9207 §2.4). Without a known issuer the login has one server,
    /// of its settings.
    private func checkIssuer(_ server: Endpoints) throws(SchemeError) {
        guard let expected = server.issuer else { return }
        guard let issuer = try value("iss") else {
            guard !server.namesIssuer else {
                throw .denied(
                    "the browser's redirect names no issuer, and each of \(expected) does, by its metadata: it may be another "
                        + "server's, and its code was not used")
            }
            return
        }
        guard issuer.utf8.elementsEqual(expected.utf8) else {
            throw .denied(
                "the browser's redirect is from the issuer \(Self.printable(issuer)), and the login was begun at \(expected): its code "
                    + "was not used")
        }
    }

    /// An issuer's name is an address, of which people need the whole.
    private static func printable(_ text: String) -> String {
        String(decoding: text.utf8.prefix(200).map { $0 > 0x20 && $0 < 0x7F ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }

    private func failure(_ code: String) -> SchemeError {
        let description = ServerText.shown(fields["error_description"] ?? "")
        let words = description.isEmpty ? "" : " (\(description))"
        switch code {
        case "access_denied": return .denied("the login was refused in the browser\(words)")
        case "temporarily_unavailable", "server_error":
            return .unavailable("the server can't log anybody in now: \(code)\(words)")
        case "invalid_scope":
            return .denied("the server does not offer the scope that is asked for\(words); change the setting scope")
        default: return .denied("the server refused the login: \(ServerText.shown(code))\(words)")
        }
    }

    private func values(_ name: String) -> [String] {
        fields.fields.filter { $0.name.utf8.elementsEqual(name.utf8) }.map { $0.value.text }
    }

    /// The value of a parameter, which may occur once (RFC 6749 §3.1).
    private func value(_ name: String) throws(SchemeError) -> String? {
        let values = values(name)
        guard values.count <= 1 else {
            throw .denied("the browser's redirect has \(values.count) values of \"\(name)\", of which one may be somebody else's")
        }
        return values.first
    }
}
