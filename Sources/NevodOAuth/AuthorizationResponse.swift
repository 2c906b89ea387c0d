package import NevodSupport

/// A server's response to a login in a browser, in the parameters of a redirect or of a form (RFC 6749 §4.1.2). Anybody can send
/// one, so everything in it is checked.
package struct AuthorizationResponse: Sendable {
    package enum Outcome: Sendable, Equatable {
        case code(String)
        /// The server's error code, which may be any text, and its words for people.
        case error(String, description: String?)
    }

    /// The reason why a response isn't used.
    package enum Fault: Error, Equatable {
        /// A parameter has several values: two readers of one response could each take a different one (§3.1).
        case repeated(name: String, count: Int)
        /// It names no issuer, although the server always does.
        case noIssuer
        /// It is from this issuer instead.
        case otherIssuer(String)
        /// It has neither a code nor an error.
        case noCode
        /// Its code is empty, too long, or has characters that no code has (Appendix A.11).
        case invalidCode
    }

    private static let mostCodeBytes = 8192

    private let items: [FormItem]

    /// Reads the query of an address.
    package init(address: String) {
        items = Self.items(of: address)
    }

    /// Reads a form, encoded.
    package init(form: UnsafeRawBufferPointer) {
        items = FormItem.items(of: Array(form))
    }

    /// Reads the query of an address; nil unless the address is the redirect URI, perhaps with more parameters. The parameters of
    /// the redirect URI itself must have come back (§3.1.2), because a program may tell servers apart by them (RFC 9700 §4.4.2).
    package init?(address: String, redirectURI: String) {
        let (items, own) = (Self.items(of: address), Self.items(of: redirectURI))
        let isSamePlace = RedirectAddress.place(of: address).utf8.elementsEqual(RedirectAddress.place(of: redirectURI).utf8)
        guard isSamePlace, own.allSatisfy({ Self.values(of: $0.name, in: items) == Self.values(of: $0.name, in: own) }) else {
            return nil
        }
        self.items = items
    }

    private static func items(of address: String) -> [FormItem] {
        let bytes = Array(address.utf8)
        let query = bytes.prefix { $0 != UInt8(ascii: "#") }.drop { $0 != UInt8(ascii: "?") }.dropFirst()
        return FormItem.items(of: Array(query))
    }

    /// Whether it is the response to the request with this state. Compares in constant time.
    package func answers(_ state: Secret) -> Bool {
        let states = Self.values(of: Array("state".utf8), in: items)
        return states.count == 1 && !state.isEmpty && states.allSatisfy { Secret(copying: $0) == state }
    }

    /// The response's content, after its issuer is checked (RFC 9207 §2.4). Even an error from another server must not be believed:
    /// a mix-up attack sends it.
    ///
    /// - Parameters:
    ///   - issuer: the server's issuer; nil if it isn't known.
    ///   - namesIssuer: whether the server always names its issuer.
    package func outcome(issuer: String?, namesIssuer: Bool) throws(Fault) -> Outcome {
        if let issuer {
            if let other = try value("iss") {
                guard other.utf8.elementsEqual(issuer.utf8) else { throw .otherIssuer(other) }
            } else if namesIssuer {
                throw .noIssuer
            }
        }
        if let code = try value("error") { return .error(code, description: try value("error_description")) }
        guard let code = try value("code") else { throw .noCode }
        guard !code.isEmpty, code.utf8.count <= Self.mostCodeBytes, code.utf8.allSatisfy({ $0.isPrintable }) else {
            throw .invalidCode
        }
        return .code(code)
    }

    private static func values(of name: [UInt8], in items: [FormItem]) -> [[UInt8]] {
        items.filter { $0.name == name }.map { $0.value }
    }

    /// The value of a parameter, which may occur once.
    private func value(_ name: String) throws(Fault) -> String? {
        let values = Self.values(of: Array(name.utf8), in: items)
        guard values.count < 2 else { throw .repeated(name: name, count: values.count) }
        return values.first.map { String(decoding: $0, as: UTF8.self) }
    }
}
