internal import NevodSupport

/// The authorization response in the address that a browser was redirected to (RFC 6749 §4.1.2), after all checks.
struct OAuthRedirect {
    let code: String

    /// - Parameters:
    ///   - address: the address with its query.
    ///   - login: the login that the response must belong to.
    ///   - server: the server that the login was begun at.
    /// - Throws: ``OAuthError`` with `invalidRedirect` for the response of another login, or of another server; with the
    ///   server's code if it refused.
    init(_ address: String, for login: OAuthLogin, at server: OAuthServer) throws(OAuthError) {
        let items = Self.items(of: address)
        guard RedirectAddress.place(of: address).utf8.elementsEqual(RedirectAddress.place(of: login.redirectURI).utf8),
            Self.hold(items, Self.items(of: login.redirectURI))
        else { throw Self.refused("it is not the login's redirect URI; register that one at the server") }
        // Two readers of one response could each take another value (RFC 6749 §3.1).
        func value(_ name: String) throws(OAuthError) -> String? {
            let values = items.filter { $0.name == Array(name.utf8) }.map(\.value)
            guard values.count < 2 else { throw Self.refused("it has several parameters \(name)") }
            return values.first.map { String(decoding: $0, as: UTF8.self) }
        }
        guard let state = try value("state"), !state.isEmpty, Secret(state) == Secret(login.state) else {
            throw Self.refused("its state is not this login's; begin the login again, and open no link to it from elsewhere")
        }
        // Before any use of the response, an error's as well (RFC 9207 §2.4).
        try Self.check(issuer: try value("iss"), at: server)
        if let text = try value("error") {
            throw Self.failure(text, description: try value("error_description"), login)
        }
        guard let code = try value("code"), !code.isEmpty, code.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw Self.refused("it has no code")
        }
        self.code = code
    }

    private typealias Item = (name: [UInt8], value: [UInt8])

    private static func items(of address: String) -> [Item] {
        let address = address.utf8.prefix { $0 != UInt8(ascii: "#") }
        let query = address.drop { $0 != UInt8(ascii: "?") }.dropFirst()
        return query.split(separator: UInt8(ascii: "&")).map { item in
            let name = item.prefix { $0 != UInt8(ascii: "=") }
            return (PercentEncoding.decoded(name), PercentEncoding.decoded(item[name.endIndex...].dropFirst()))
        }
    }

    /// Whether the items of the redirect URI's own query have come back (RFC 6749 §3.1.2): a program may tell servers apart by them
    /// (RFC 9700 §4.4.2).
    private static func hold(_ items: [Item], _ own: [Item]) -> Bool {
        let names = Set(own.map(\.name))
        func values(_ items: [Item]) -> [[UInt8]: [[UInt8]]] {
            Dictionary(grouping: items.filter { names.contains($0.name) }, by: \.name).mapValues { $0.map(\.value) }
        }
        return values(items) == values(own)
    }

    private static func check(issuer: String?, at server: OAuthServer) throws(OAuthError) {
        guard let expected = server.issuer else { return }
        if let issuer {
            guard issuer.utf8.elementsEqual(expected.utf8) else {
                throw refused("another issuer than \(expected) has sent it, maybe to obtain this login's code (RFC 9207)")
            }
        } else if server.namesIssuer {
            throw refused("it names no issuer (iss), which \(expected) always does; another server may have sent it (RFC 9207)")
        }
    }

    private static func refused(_ problem: String) -> OAuthError {
        OAuthError(.invalidRedirect, "the address that the browser was redirected to is refused: \(problem)")
    }

    private static func failure(_ text: String, description: String?, _ login: OAuthLogin) -> OAuthError {
        let secrets = [login.verifier.text, login.state]
        guard let code = OAuthErrorCode(received: text, hiding: secrets) else { return refused("it has an invalid error code") }
        let words = ServerWords.shown(description, hiding: secrets)
        guard code.meaning(status: nil) != .outage else {
            return OAuthError(
                .unavailable, "the authorization server can't serve the login now: \(code)\(words); try again later",
                serverCode: code)
        }
        return OAuthError(.refused, "the authorization server refused the login: \(code)\(words)", serverCode: code)
    }
}
