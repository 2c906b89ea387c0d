internal import NevodOAuth
internal import NevodPluginKit
internal import NevodSupport

/// The method of a request to a metadata service.
enum MetadataMethod: String, CaseIterable, SettingValue {
    case get = "GET"
    case post = "POST"
    case put = "PUT"
}

/// A service that gives a machine, a container or a job its identity, at an address that nothing else can reach, such as in Google
/// Cloud, Azure and GitHub Actions.
struct MetadataService: Sendable {
    private let url: String
    private let method: MetadataMethod
    private let headers: [(name: String, value: String)]
    private let parameters: FormFields
    private let secret: (header: String, value: Secret)?
    private let member: String
    private let session: (url: String, header: String)?

    private static let usualMember = "access_token"

    /// 9999-12-31T23:59:59Z.
    static let latestTime: Int64 = 253_402_300_799

    init(_ settings: Workload, _ url: ServerURL) throws(SchemeError) {
        try Self.checkURL(url, of: "metadata-url")
        if let sessionURL = settings.sessionURL { try Self.checkURL(sessionURL, of: "metadata-session-url") }
        try Self.checkName(settings.secretHeader, of: "metadata-secret-header")
        try Self.checkName(settings.sessionHeader, of: "metadata-session-header")
        if settings.secret == nil {
            try OAuth2Auth.refuse([("metadata-secret-header", settings.secretHeader != nil)], without: "metadata-secret")
        }
        if settings.sessionURL == nil {
            try OAuth2Auth.refuse([("metadata-session-header", settings.sessionHeader != nil)], without: "metadata-session-url")
        }
        if let secret = settings.secret, !Self.isValue(secret) {
            throw .badSetting("metadata-secret", "must be visible ASCII, without spaces")
        }
        var headers: [(name: String, value: String)] = []
        for line in settings.headers {
            headers.append(try Self.header(line))
        }
        self.url = url.text
        method = settings.method
        self.headers = headers
        parameters = try OAuth2Auth.fields(settings.parameters, of: "metadata-parameter")
        secret = settings.secret.map { (settings.secretHeader ?? "Authorization", $0) }
        member = settings.member ?? Self.usualMember
        session = settings.sessionURL.map { ($0.text, settings.sessionHeader ?? "Authorization") }
    }

    private static func checkURL(_ url: ServerURL, of setting: String) throws(SchemeError) {
        guard !url.text.utf8.contains(UInt8(ascii: "#")) else { throw .badSetting(setting, "must have no fragment (#)") }
    }

    private static func checkName(_ header: String?, of setting: String) throws(SchemeError) {
        if let header, !isName(header) { throw .badSetting(setting, "must be a header's name") }
    }

    private static func header(_ line: String) throws(SchemeError) -> (name: String, value: String) {
        let bytes = Array(line.utf8)
        let end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? 0
        let name = String(decoding: Array(bytes[..<end]), as: UTF8.self)
        guard isName(name) else { throw .badSetting("metadata-header", "must be NAME: VALUE") }
        guard !isAuthorization(name) else {
            throw .badSetting("metadata-header", "can't be Authorization: give its value as metadata-secret, without Bearer")
        }
        let value = Array(bytes[end...].dropFirst().drop { $0.isBlank })
        guard value.allSatisfy({ $0.isFieldByte }) else {
            throw .badSetting("metadata-header", "must have no control characters")
        }
        return (name, String(decoding: value, as: UTF8.self))
    }

    /// Asks for a token.
    ///
    /// - Parameter target: `audience` and `resource` become query items of these names. The scopes become an item `scopes`, with
    ///   commas, for Google's service, the only one that accepts scopes.
    /// - Throws: ``SchemeError/denied(_:detail:)`` if the service refuses; ``SchemeError/unavailable(_:detail:)`` if it isn't
    ///   ready.
    func token(_ flow: AuthFlow, for target: FormFields) async throws(SchemeError) -> Workload.Token {
        var headers = headers
        var sent: [Secret] = []
        if let secret {
            sent.append(secret.value)
            headers.append(Self.line(secret.header, String(revealing: secret.value)))
        }
        if let session {
            // Has no body. Some services require its length, which the host adds.
            let request = FlowRequest("PUT", session.url, headers: headers, followsRedirects: false)
            let proof = try Self.token(
                in: try await flow.send(request), of: "metadata-session-url", member: Self.usualMember, flow, hiding: sent)
            // The session's proof replaces the one that obtained it.
            headers.removeAll { $0.name.equalsIgnoringCase(session.header) }
            headers.append(Self.line(session.header, String(revealing: proof.text)))
            sent.append(proof.text)
        }
        let request = FlowRequest(method.rawValue, address(for: target), headers: headers, followsRedirects: false)
        return try Self.token(in: try await flow.send(request), of: "metadata-url", member: member, flow, hiding: sent)
    }

    private func address(for target: FormFields) -> String {
        var items = parameters
        for field in target.fields {
            if field.name.utf8.elementsEqual("scope".utf8) {
                items.append("scopes", .text(Scopes.words(field.value.text).joined(separator: ",")))
            } else {
                items.append(field.name, field.value)
            }
        }
        guard !items.fields.isEmpty else { return url }
        let separator = url.utf8.contains(UInt8(ascii: "?")) ? "&" : "?"
        return "\(url)\(separator)\(String(revealing: items.encoded))"
    }

    private static func line(_ name: String, _ proof: String) -> (name: String, value: String) {
        (name, isAuthorization(name) ? "Bearer \(proof)" : proof)
    }

    private static func isAuthorization(_ name: String) -> Bool { name.equalsIgnoringCase("authorization") }

    /// Reads a response: JSON with the token in a member, or the token as text.
    private static func token(
        in response: FlowResponse, of setting: String, member: String, _ flow: AuthFlow, hiding secrets: [Secret]
    ) throws(SchemeError) -> Workload.Token {
        guard response.status / 100 == 2 else { throw refusal(response, of: setting, hiding: secrets) }
        let json: JSONValue? = try? response.json()
        guard let json, case .object = json else {
            let text = String(Substring(response.text.utf8.trimmed { $0.isCWhitespace }))
            // A page, or JSON that isn't an object, is visible ASCII too.
            guard TokenResponse.isToken(text), let first = text.utf8.first, !"<[{\"".utf8.contains(first) else {
                throw .unavailable("the response of \(setting) is neither JSON nor a token")
            }
            let token = Secret(text)
            return Workload.Token(text: token, expiresAt: Workload.expiry(of: token))
        }
        guard let text = json[member]?.string, TokenResponse.isToken(text) else {
            throw .unavailable(
                "the response of \(setting) has no token in the member \(member); metadata-member names another one")
        }
        let token = Secret(text)
        return Workload.Token(text: token, expiresAt: expiry(json, at: flow.unixSeconds) ?? Workload.expiry(of: token))
    }

    /// The expiry that a response names: `expires_in` seconds from now, or `expires_on` in seconds since 1970 (Azure). Some
    /// services write either as a string.
    private static func expiry(_ json: JSONValue, at now: Int64) -> Int64? {
        func number(_ name: String) -> Int64? { json[name]?.integer ?? json[name]?.string.flatMap { Int64($0) } }
        if let lifetime = number("expires_in") { return now + max(0, min(lifetime, 1_000_000_000)) }
        return number("expires_on").flatMap { (0...latestTime).contains($0) ? $0 : nil }
    }

    private static func refusal(_ response: FlowResponse, of setting: String, hiding secrets: [Secret]) -> SchemeError {
        // Shows only a code from the response, which is one word (RFC 6749 §5.2 and Azure's).
        var code = ""
        if let error = response.errorCode, error.utf8.count <= 64, Self.isName(error) {
            code = ": \(ServerWords.text(error, hiding: secrets))"
        }
        let message = "the metadata service of \(setting) responded with status \(response.status)\(code)"
        return switch response.status {
        case 400, 401, 403, 405:
            .denied("\(message); does this machine have an identity, and are metadata-header and metadata-secret right?")
        // Even for 404 and 410, which Azure's service sends until an identity is ready.
        default: .unavailable(message)
        }
    }

    private static func isName(_ text: String) -> Bool { !text.isEmpty && text.utf8.allSatisfy { $0.isTokenByte } }

    private static func isValue(_ secret: Secret) -> Bool {
        !secret.isEmpty && secret.withUnsafeBytes { $0.allSatisfy { $0.isVisible } }
    }
}
