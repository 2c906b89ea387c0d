internal import NevodJWT
internal import NevodOAuth
internal import NevodPluginCrypto
internal import NevodPluginKit
internal import NevodSupport

/// The rules for ID tokens from one issuer to one client (OpenID Connect Core §3.1.3.7).
struct IDTokenRules: Sendable {
    let issuer: String
    let clientID: String
    /// The nonce of the authorization request; nil if it had none.
    var nonce: String?

    /// The person that an ID token describes.
    struct Person: Equatable, Sendable {
        /// `sub`: never reassigned by the issuer.
        let subject: String
        /// The name for people.
        let account: String
    }

    /// The longest `sub` (§2), in bytes.
    private static let longestSubject = 255
    private static let longestAccount = 256

    /// Checks an ID token.
    ///
    /// - Parameters:
    ///   - token: the ID token.
    ///   - keys: the issuer's public keys, or the client's secret. A token with another kind of algorithm finds no key.
    ///   - accessToken: the access token that came with it, for `at_hash`.
    ///   - seconds: the current time, since 1970.
    func person(
        in token: Secret, with keys: [JSONWebKey], beside accessToken: Secret, at seconds: Int64
    ) throws(IDTokenFault) -> Person {
        let claims: JWTClaims
        let algorithm: JWTAlgorithm?
        do throws(JWTError) {
            algorithm = JWTAlgorithm(rawValue: try JSONWebToken(token).header.algorithm)
            claims = try verifier.verify(token, with: keys, at: Double(seconds))
        } catch {
            throw IDTokenFault(error.description)
        }
        try checkParty(claims)
        if let nonce {
            guard let other = claims[string: "nonce"], other.utf8.elementsEqual(nonce.utf8) else {
                throw IDTokenFault("it isn't for this login (nonce)")
            }
        }
        if claims.contains("at_hash") {
            guard let algorithm, let hash = Self.hash(of: accessToken, for: algorithm), let other = claims[string: "at_hash"],
                other.utf8.elementsEqual(hash.utf8)
            else { throw IDTokenFault("it isn't for the access token that came with it (at_hash)") }
        }
        return try person(claims)
    }

    /// Checks an ID token that came with a renewed token: it must be about the same person (§12.2).
    ///
    /// - Throws: if the token is readable, but about somebody else.
    func checkSame(_ subject: String, in token: Secret) throws(IDTokenFault) {
        guard let claims = try renewedClaims(in: token) else { return }
        guard let other = claims.subject, other.utf8.elementsEqual(subject.utf8) else {
            throw IDTokenFault("it is for another account (sub)")
        }
    }

    /// The person in an ID token that came for a refresh token; nil if it doesn't name one.
    func renewedPerson(in token: Secret) -> Person? {
        guard let claims = try? renewedClaims(in: token) else { return nil }
        return try? person(claims)
    }

    /// The claims of an ID token that came for a refresh token; nil if it isn't readable.
    ///
    /// Its signature isn't verified, because the request for keys could fail and then a rotated token would be lost. TLS vouches
    /// for the issuer instead (§3.1.3.7, rule 6). Its time isn't checked either, because nothing depends on it.
    private func renewedClaims(in token: Secret) throws(IDTokenFault) -> JWTClaims? {
        guard let claims = try? JSONWebToken(token).unverifiedClaims else { return nil }
        guard let other = claims.issuer, other.utf8.elementsEqual(issuer.utf8) else {
            throw IDTokenFault("it is from another issuer (iss)")
        }
        guard claims.audience.contains(where: { $0.utf8.elementsEqual(clientID.utf8) }) else {
            throw IDTokenFault("it is for another client (aud)")
        }
        return claims
    }

    private var verifier: JWTVerifier {
        JWTVerifier(
            algorithms: Set(JWTAlgorithm.allCases), issuer: issuer, audience: clientID,
            requiredClaims: ["iss", "sub", "aud", "exp", "iat"])
    }

    /// Checks that a token for several parties was issued to this client (rules 3 to 5).
    private func checkParty(_ claims: JWTClaims) throws(IDTokenFault) {
        guard claims.contains("azp") else {
            guard claims.audience.count == 1 else {
                throw IDTokenFault("it is for other parties too (aud), but names none (azp)")
            }
            return
        }
        guard let party = claims[string: "azp"], party.utf8.elementsEqual(clientID.utf8) else {
            throw IDTokenFault("it was issued to another client (azp)")
        }
    }

    private func person(_ claims: JWTClaims) throws(IDTokenFault) -> Person {
        guard let subject = claims.subject, Self.isName(subject, upTo: Self.longestSubject) else {
            throw IDTokenFault("its claim sub is empty, longer than \(Self.longestSubject) bytes, or has control characters")
        }
        for name in ["email", "preferred_username"] {
            if let account = claims[string: name], Self.isName(account, upTo: Self.longestAccount) {
                return Person(subject: subject, account: account)
            }
        }
        return Person(subject: subject, account: subject)
    }

    private static func isName(_ text: String, upTo limit: Int) -> Bool {
        !text.isEmpty && text.utf8.count <= limit && !text.unicodeScalars.contains { $0.isUnsafeAtTerminal || $0 == "\t" }
    }

    /// The left half of the access token's hash, in base64url (§3.1.3.6). For EdDSA, the hash is Ed25519's.
    private static func hash(of accessToken: Secret, for algorithm: JWTAlgorithm) -> String? {
        let function: HashFunction =
            switch algorithm {
            case .hs256, .rs256, .ps256, .es256: .sha256
            case .hs384, .rs384, .ps384, .es384: .sha384
            case .hs512, .rs512, .ps512, .es512, .edDSA: .sha512
            }
        let digest = accessToken.withUnsafeBytes { try? function.digest(of: Span(_unsafeBytes: $0)) }
        return digest.map { Base64URL.encoded($0.bytes.extracting(first: $0.count / 2)) }
    }
}

/// The reason why an ID token isn't accepted, as a sentence about it.
struct IDTokenFault: Error, Equatable, Sendable {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

extension OAuth2Auth {
    /// Whether a login asks for the person's identity with the scope `openid` (OpenID Connect Core §3.1.2.1).
    func asksForIdentity(_ flow: AuthFlow) -> Bool {
        scope(of: flow).utf8.split(separator: UInt8(ascii: " ")).contains { $0.elementsEqual("openid".utf8) }
    }
}

extension TokenEndpoint {
    /// Sets the token's account from the ID token that came with it, if the login asked for one. Ignores the ID token if the issuer
    /// or the client's identifier is unknown, because then it can't be checked.
    ///
    /// - Throws: if the ID token isn't valid, because the access token may then be somebody else's.
    func identify(_ token: inout StoredToken) async throws(SchemeError) {
        guard let idToken = token.idToken, scheme.asksForIdentity(flow), let issuer = endpoints.issuer,
            let clientID = scheme.clientID
        else { return }
        let rules = IDTokenRules(issuer: issuer, clientID: clientID, nonce: token.nonce)
        if scheme.grant == .refreshToken {
            // Doesn't throw, because the new refresh token must not be lost.
            guard let person = rules.renewedPerson(in: idToken) else { return }
            token.subject = person.subject
            token.account = person.account
            return
        }
        let keys = try await keys(for: idToken)
        do throws(IDTokenFault) {
            let person = try rules.person(in: idToken, with: keys, beside: token.accessToken, at: flow.unixSeconds)
            token.subject = person.subject
            token.account = person.account
        } catch {
            throw Self.refusal(error)
        }
    }

    /// Refuses a renewed token for a different person from the old token's.
    func checkIdentity(of token: StoredToken, as old: StoredToken) throws(SchemeError) {
        guard let idToken = token.idToken, let subject = old.subject, let issuer = endpoints.issuer,
            let clientID = scheme.clientID
        else { return }
        do throws(IDTokenFault) {
            try IDTokenRules(issuer: issuer, clientID: clientID).checkSame(subject, in: idToken)
        } catch {
            throw Self.refusal(error)
        }
    }

    private static func refusal(_ fault: IDTokenFault) -> SchemeError {
        .denied("the server's ID token is not valid: \(fault.description); tell the server's owner, or leave openid out of scope")
    }

    /// The keys that may have signed an ID token: the client's secret for HMAC, otherwise the keys that the issuer publishes.
    /// Published HMAC keys aren't used, because they aren't secret.
    private func keys(for idToken: Secret) async throws(SchemeError) -> [JSONWebKey] {
        let algorithm: JWTAlgorithm
        do throws(JWTError) {
            guard let known = JWTAlgorithm(rawValue: try JSONWebToken(idToken).header.algorithm) else {
                throw JWTError(.algorithm, "it has no signature, or one of an unknown algorithm (alg)")
            }
            algorithm = known
        } catch {
            throw Self.refusal(IDTokenFault(error.description))
        }
        switch algorithm {
        case .hs256, .hs384, .hs512: return try secretKey(algorithm)
        default: return try await publishedKeys()
        }
    }

    private func secretKey(_ algorithm: JWTAlgorithm) throws(SchemeError) -> [JSONWebKey] {
        guard let secret = scheme.clientSecret, scheme.clientAuthentication != .none else {
            throw Self.refusal(IDTokenFault("it is signed with \(algorithm.rawValue), for which this client has no secret"))
        }
        do throws(JWTError) { return [try JSONWebKey(secret: secret, algorithm: algorithm)] } catch {
            throw .badSetting("client-secret", "can't verify the server's ID token: \(error.description)")
        }
    }

    private func publishedKeys() async throws(SchemeError) -> [JSONWebKey] {
        guard let url = endpoints.keys else {
            throw .badSetting(
                "keys-url", "is needed for the server's ID token: its metadata names no valid jwks_uri, or can't be read")
        }
        switch try await scheme.document(flow, at: url) {
        case .absent(let fault), .unavailable(let fault):
            throw .unavailable("the server's keys can't be read: \(ServerWords.quoted(url)) \(fault)")
        case .found(let body):
            do throws(JWTError) {
                let set = try body.withUnsafeBytes { bytes throws(JWTError) in try JSONWebKeySet(json: Array(bytes)) }
                return set.keys.filter { key in
                    !key.algorithms.contains { $0 == .hs256 || $0 == .hs384 || $0 == .hs512 }
                }
            } catch {
                throw .unavailable("the server's keys can't be read: \(ServerWords.quoted(url)): \(error.description)")
            }
        }
    }
}
