internal import NevodOAuth
internal import NevodPluginKit
internal import NevodSupport

/// A token as the host stores it, sealed: a line with the format's version, then a line `name value` for each member.
struct StoredToken: Sendable {
    var accessToken: Secret
    /// `Bearer`, or `DPoP`.
    var type = "Bearer"
    var refreshToken: Secret?
    /// Seconds since 1970 UTC; nil if the server didn't say.
    var expiresAt: Int64?
    /// The granted scope; nil if the server didn't say.
    var scope: String?
    /// The issuer of the token; nil if none was configured.
    var issuer: String?
    /// The private key that a DPoP token and its refresh token are bound to, as ``ProofKey/stored``.
    var proofKey: Secret?
    /// The last nonce of the authorization server (RFC 9449 §8); nil if it hasn't given one.
    var serverNonce: String?
    /// The account's name for people, from an ID token.
    var account = ""
    /// `sub` of the login's ID token; nil if there was none.
    var subject: String?
    /// The endpoints that the metadata named; nil if all are in settings.
    var endpoints: Endpoints?
    /// Whether an API demanded the login that issued this token (RFC 9470). False for a renewed token.
    var isSteppedUp = false

    // Came with the token; not stored.
    var idToken: Secret?
    /// The nonce that the ID token must have; nil if the authorization request had none.
    var nonce: String?

    /// Copies values that the server's response left out from the token that this one replaces (RFC 6749 §6).
    mutating func keepMissing(of old: StoredToken) {
        refreshToken = refreshToken ?? old.refreshToken
        scope = scope ?? old.scope
        proofKey = proofKey ?? old.proofKey
        if account.isEmpty { account = old.account }
        subject = subject ?? old.subject
        endpoints = endpoints ?? old.endpoints
    }

    /// Whether the token is bound to ``proofKey``.
    var isBound: Bool { type.utf8.elementsEqual("DPoP".utf8) }

    var issued: IssuedToken { IssuedToken(encoded, expiresAt: expiresAt, account: account) }
}

extension StoredToken {
    private static let version = "1"

    var encoded: Secret {
        var bytes = WipedBytes()
        bytes.append("\(Self.version)\n")
        func line(_ name: String, _ value: Secret?) {
            guard let value else { return }
            bytes.append("\(name) ")
            value.withUnsafeBytes { bytes.append($0) }
            bytes.append("\n")
        }
        func line(_ name: String, _ value: String?) {
            // A line break would begin another member.
            if let value, !value.isEmpty, !value.utf8.contains(UInt8(ascii: "\n")) { bytes.append("\(name) \(value)\n") }
        }
        line("access-token", accessToken)
        line("type", type)
        line("refresh-token", refreshToken)
        line("expires-at", expiresAt.map { String($0) })
        line("scope", scope)
        line("issuer", issuer)
        line("proof-key", proofKey)
        line("server-nonce", serverNonce)
        line("account", account)
        line("subject", subject)
        if isSteppedUp { line("stepped-up", "true") }
        line("token-endpoint", endpoints?.token)
        line("revocation-endpoint", endpoints?.revocation)
        line("client-methods", endpoints?.clientMethods.joined(separator: " "))
        line("assertion-algorithms", endpoints?.assertionAlgorithms.joined(separator: " "))
        line("proof-algorithms", endpoints?.proofAlgorithms.joined(separator: " "))
        return bytes.secret
    }

    init(decoding bytes: Span<UInt8>) throws(SchemeError) {
        var accessToken: Secret?
        var token = StoredToken(accessToken: .absent)
        var endpoints = Endpoints(token: "", source: .token)
        let isReadable = bytes.withUnsafeBufferPointer { bytes in
            let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            guard lines.count >= 2, lines[0].elementsEqual(Self.version.utf8), lines.last?.isEmpty == true else { return false }
            for line in lines.dropFirst().dropLast() {
                let name = line.prefix { $0 != UInt8(ascii: " ") }
                guard name.endIndex < line.endIndex else { return false }
                let value = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: line[(name.endIndex + 1)...]))
                switch String(decoding: name, as: UTF8.self) {
                case "access-token": accessToken = Secret(copying: value)
                case "type": token.type = String(decoding: value, as: UTF8.self)
                case "refresh-token": token.refreshToken = Secret(copying: value)
                case "expires-at": token.expiresAt = Int64(String(decoding: value, as: UTF8.self))
                case "scope": token.scope = String(decoding: value, as: UTF8.self)
                case "issuer": token.issuer = String(decoding: value, as: UTF8.self)
                case "proof-key": token.proofKey = Secret(copying: value)
                case "server-nonce": token.serverNonce = String(decoding: value, as: UTF8.self)
                case "account": token.account = String(decoding: value, as: UTF8.self)
                case "subject": token.subject = String(decoding: value, as: UTF8.self)
                case "stepped-up": token.isSteppedUp = true
                case "token-endpoint": endpoints.token = String(decoding: value, as: UTF8.self)
                case "revocation-endpoint": endpoints.revocation = String(decoding: value, as: UTF8.self)
                case "client-methods": endpoints.clientMethods = Self.words(value)
                case "assertion-algorithms": endpoints.assertionAlgorithms = Self.words(value)
                case "proof-algorithms": endpoints.proofAlgorithms = Self.words(value)
                // A member from a newer version.
                default: break
                }
            }
            return true
        }
        let isOfKnownType = token.type.utf8.elementsEqual("Bearer".utf8) || token.type.utf8.elementsEqual("DPoP".utf8)
        guard isReadable, isOfKnownType, let accessToken, !accessToken.isEmpty else {
            throw .badToken("the stored token is damaged, or from another version of this plugin")
        }
        token.accessToken = accessToken
        endpoints.issuer = token.issuer
        if !endpoints.token.isEmpty { token.endpoints = endpoints }
        self = token
    }

    private static func words(_ text: UnsafeRawBufferPointer) -> [String] {
        Scopes.words(String(decoding: text, as: UTF8.self))
    }
}

extension StoredToken {
    /// Reads the response of a token endpoint (RFC 6749 §5.1).
    ///
    /// - Parameter random: decides how much earlier the token expires here than at the server; nil for the server's own time.
    init(_ json: JSONValue, at now: Int64, issuer: String?, random: UInt8? = nil) throws(SchemeError) {
        let response: TokenResponse
        do throws(TokenResponse.Fault) { response = try TokenResponse(json) } catch {
            switch error {
            case .noAccessToken: throw .unavailable("the server's response has no valid access_token")
            case .otherType: throw .unsupported("the server issued a token of a type that this client doesn't know")
            }
        }
        self.init(accessToken: Secret(response.accessToken), type: response.type == .dpop ? "DPoP" : "Bearer")
        refreshToken = try Self.refreshToken(in: json)
        expiresAt = response.lifetime.map { now + Self.usable($0, random) }
        scope = response.scope
        idToken = json["id_token"]?.string.map { Secret($0) }
        self.issuer = issuer
    }

    static func refreshToken(in json: JSONValue) throws(SchemeError) -> Secret? {
        guard let text = json["refresh_token"]?.string, !text.isEmpty else { return nil }
        guard isRefreshToken(text) else { throw .unavailable("the server's response has no valid refresh_token") }
        return Secret(text)
    }

    /// Returns the seconds for which a token counts as valid: fewer than at the server, because a request takes time to arrive,
    /// and varied among clients that logged in together. At most a tenth less, so that even a token of a few seconds is usable.
    static func usable(_ lifetime: Int64, _ random: UInt8?) -> Int64 {
        guard let random else { return lifetime }
        let margin = min(lifetime, 100) / 10
        return lifetime - margin + margin * Int64(random) / 512
    }

    /// Whether a text can be a refresh token. Allows more than Appendix A.17, because the client only repeats it in a form's field.
    static func isRefreshToken(_ text: String) -> Bool {
        text.utf8.count <= 16_384 && text.utf8.allSatisfy { !$0.isControl }
    }
}

/// A token as requests use it.
final class AccessToken: SchemeToken {
    let stored: StoredToken
    /// The value of the Authorization header.
    let credential: Secret
    /// The key that the token is bound to; nil for a bearer token.
    let binding: KeyBinding?

    convenience init(decoding bytes: Span<UInt8>) throws(SchemeError) {
        try self.init(StoredToken(decoding: bytes))
    }

    init(_ stored: StoredToken) throws(SchemeError) {
        binding = try stored.isBound ? KeyBinding(stored) : nil
        self.stored = stored
        var bytes = WipedBytes()
        bytes.append("\(stored.type) ")
        stored.accessToken.withUnsafeBytes { bytes.append($0) }
        credential = bytes.secret
    }
}
