internal import NevodPluginKit
internal import NevodSupport

/// A token in exchange for a signed assertion (RFC 7523 §2.1). The assertion is given, or made with a key, as for Google's service
/// accounts and Salesforce's connected apps.
struct JWTBearer {
    struct Settings: Sendable {
        @Setting("assertion", help: "The assertion (JWT) for grant=jwt-bearer, if it is not made with assertion-key")
        var given: Secret?
        @Setting("assertion-file", help: "File with the assertion, read for each token") var file: String?
        @Setting("assertion-key", help: "Private key to make assertions with, as PEM, JWK or a Google service account's key file")
        var key: Secret?
        @Setting("assertion-key-id", help: "The key's name at the server (kid)") var keyID: String?
        @Setting("assertion-key-alg", help: "Algorithm of the signature, if the key allows several")
        var algorithm: AssertionAlgorithm?
        @Setting("assertion-issuer", help: "Issuer of the assertion (iss); by default the client-id, or the service account")
        var issuer: String?
        @Setting("assertion-subject", help: "Subject of the assertion (sub); by default the issuer; empty for none")
        var subject: String?
        @Setting("assertion-audience", help: "Recipient of the assertion (aud); by default the token endpoint")
        var audience: String?
        @Setting("assertion-lifetime", default: 60, help: "Seconds that an assertion is valid") var lifetime: Int
        @Setting("assertion-claim", help: "Another claim of the assertion, NAME=VALUE") var claims: [String]
        @Setting("assertion-scope", default: false, help: "Whether the scope is a claim of the assertion, as Google wants it")
        var claimsScope: Bool

        // Derived in prepare.
        fileprivate var signer: AssertionSigner?
        fileprivate var tokenFile: TokenFile?
        fileprivate var extraClaims: [JSONValue.Member] = []

        init() {}

        /// Whether the settings give an assertion. If not, it is the workload's own token.
        var isGiven: Bool { given != nil || file != nil || key != nil }

        mutating func prepare(_ grant: Grant, hasWorkload: Bool, clientID: String?) throws(SchemeError) {
            let ofKey: [(name: String, isGiven: Bool)] = [
                ("assertion-key-id", keyID != nil), ("assertion-key-alg", algorithm != nil), ("assertion-issuer", issuer != nil),
                ("assertion-subject", subject != nil), ("assertion-audience", audience != nil),
                ("assertion-claim", !claims.isEmpty), ("assertion-scope", claimsScope),
            ]
            let sources: [(name: String, isGiven: Bool)] = [
                ("assertion", given != nil), ("assertion-file", file != nil), ("assertion-key", key != nil),
            ]
            guard grant == .jwtBearer else { return try OAuth2Auth.refuse(sources + ofKey, without: "grant=jwt-bearer") }
            let givenSources = sources.filter { $0.isGiven }
            if givenSources.count > 1 {
                throw .badSetting(givenSources[1].name, "can't be given along with \(givenSources[0].name)")
            }
            guard isGiven || hasWorkload else {
                throw .badSetting(
                    "assertion-key", "is needed for grant=jwt-bearer; or assertion, assertion-file, token-file or metadata-url")
            }
            if let given, given.isEmpty { throw .badSetting("assertion", "must not be empty") }
            tokenFile = try file.map { path throws(SchemeError) in try TokenFile(path, setting: "assertion-file") }
            guard let key else { return try OAuth2Auth.refuse(ofKey, without: "assertion-key") }
            let names = AssertionSigner.Names(key: "assertion-key", algorithm: "assertion-key-alg")
            let signer = try AssertionSigner(key: key, algorithm, keyID: keyID, names)
            guard let issuer = issuer ?? signer.account ?? clientID, !issuer.isEmpty else {
                throw .badSetting("assertion-issuer", "or client-id is needed, to name the issuer of the assertion")
            }
            guard (1...Self.longestLifetime).contains(lifetime) else {
                throw .badSetting("assertion-lifetime", "must be a number from 1 to \(Self.longestLifetime)")
            }
            extraClaims = try Self.members(claims)
            self.signer = signer
        }

        /// An hour, the most that Google accepts.
        private static let longestLifetime = 3600

        private static let ownClaims = ["iss", "sub", "aud", "exp", "iat", "nbf", "jti"]

        private static func members(_ claims: [String]) throws(SchemeError) -> [JSONValue.Member] {
            var members: [JSONValue.Member] = []
            for field in try OAuth2Auth.fields(claims, of: "assertion-claim").fields {
                if ownClaims.contains(where: { $0.utf8.elementsEqual(field.name.utf8) }) {
                    throw .badSetting(
                        "assertion-claim",
                        "can't set \(field.name), which has its own setting or is made for each assertion")
                }
                if members.contains(where: { $0.name.utf8.elementsEqual(field.name.utf8) }) {
                    throw .badSetting("assertion-claim", "sets \(field.name) twice")
                }
                members.append(JSONValue.Member(field.name, .string(field.value.text)))
            }
            return members
        }
    }

    let server: TokenEndpoint
    private var settings: Settings { server.scheme.assertions }

    init(_ server: TokenEndpoint) {
        self.server = server
    }

    func run() async throws(SchemeError) -> StoredToken {
        var fields: FormFields = ["grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer"]
        var target = FormFields()
        server.target(&target)
        fields.append("assertion", .secret(try await assertion(for: target)))
        for field in target.fields where !(settings.claimsScope && Self.isScope(field)) { fields.append(field.name, field.value) }
        return try await server.token(fields, as: "the assertion")
    }

    private func assertion(for target: FormFields) async throws(SchemeError) -> Secret {
        if let given = settings.given { return given }
        if let file = settings.tokenFile { return try file.read() }
        guard let signer = settings.signer else { return try await server.scheme.workload.token(server.flow).text }
        return try signer.token(claims(signer, for: target))
    }

    private func claims(_ signer: AssertionSigner, for target: FormFields) throws(SchemeError) -> [JSONValue.Member] {
        let now = server.flow.unixSeconds
        let issuer = settings.issuer ?? signer.account ?? server.scheme.clientID ?? ""
        var claims = [JSONValue.Member("iss", .string(issuer))]
        // RFC 7523 §3 demands a subject. For Google, the subject is a user to act for, and is left out for the account itself.
        let subject = settings.subject ?? (signer.account == nil ? issuer : "")
        if !subject.isEmpty { claims.append(JSONValue.Member("sub", .string(subject))) }
        claims.append(JSONValue.Member("aud", .string(settings.audience ?? server.endpoints.token)))
        claims.append(JSONValue.Member("jti", .string(try server.flow.identifier(for: "assertion grant"))))
        claims.append(JSONValue.Member("iat", .integer(now)))
        claims.append(JSONValue.Member("exp", .integer(now + Int64(settings.lifetime))))
        if settings.claimsScope, let scope = target.fields.first(where: Self.isScope) {
            claims.append(JSONValue.Member("scope", .string(scope.value.text)))
        }
        return claims + settings.extraClaims
    }

    private static func isScope(_ field: FormFields.Field) -> Bool { field.name.utf8.elementsEqual("scope".utf8) }
}
