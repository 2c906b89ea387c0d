internal import NevodPluginKit
internal import NevodSupport

/// A response of one of the server's endpoints: JSON, or a form as some servers send, with a result or an error (RFC 6749 §5).
struct ServerAnswer: Sendable {
    let status: Int
    /// Nil if the body is neither a JSON object nor a form with `error`, `access_token` or `device_code`.
    let json: JSONValue?
    /// The wait that the server asks for, in seconds; nil if it asks for none (RFC 9110 §10.2.3).
    let retryAfter: Int64?
    private let isEmpty: Bool
    private let hasChallenge: Bool
    private let isFromProxy: Bool
    /// The setting to blame if the server doesn't accept the client's proof.
    var clientSetting = "client-id"
    /// Advice on what else may be wrong then.
    var clientAdvice = "check it, and client-auth"
    /// Those of the request, which the server's words may repeat.
    var secrets: [Secret] = []

    /// - Parameter now: seconds since 1970 UTC, from which a date in `Retry-After` counts if the response has none of its own.
    init(_ response: FlowResponse, at now: Int64? = nil) {
        self.init(
            status: response.status, headers: response.headers, body: response.body, isFromProxy: response.isFromProxy, at: now)
    }

    init(
        status: Int, headers: [(name: String, value: String)], body: Secret, isFromProxy: Bool = false, at now: Int64? = nil
    ) {
        self.status = status
        self.isFromProxy = isFromProxy
        json = body.withUnsafeBytes { Self.object($0) }
        isEmpty = body.isEmpty
        hasChallenge = headers.contains { $0.name.isHeaderName("www-authenticate") }
        retryAfter = RetryAfter.seconds(headers, at: now)
    }

    private static func object(_ body: UnsafeRawBufferPointer) -> JSONValue? {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let body = body.starts(with: mark) ? UnsafeRawBufferPointer(rebasing: body[3...]) : body
        switch body.first(where: { $0 > 0x20 }) {
        case UInt8(ascii: "{"):
            // A repeated name leaves open which value counts.
            if let json = try? JSONValue(parsing: Span(_unsafeBytes: body), repeatedNames: .refused) { return json }
            // Some servers send Latin-1 in the description, where it does no harm.
            let repaired = Array(String(decoding: body, as: UTF8.self).utf8)
            return try? JSONValue(parsing: repaired.span, repeatedNames: .refused)
        // A page, whose links may look like a form's fields.
        case nil, UInt8(ascii: "<"): return nil
        default:
            let form = FormFields(parsing: String(decoding: body, as: UTF8.self))
            guard form["error"] != nil || form["access_token"] != nil || form["device_code"] != nil else { return nil }
            return .object(form.fields.map { JSONValue.Member($0.name, .string($0.value.text)) })
        }
    }

    /// The error's code; nil in a success.
    var error: String? {
        switch json?["error"] {
        case .string(let code) where !code.isEmpty: code
        // Google's APIs have an object here.
        case .some(let error) where error.isObject: error["status"]?.string ?? error["type"]?.string ?? "error"
        // Slack says so with the status 200.
        default: json?["ok"]?.bool == false ? "not ok" : nil
        }
    }

    /// The result.
    ///
    /// - Parameter what: what was asked for, as in "the server refused WHAT".
    /// - Throws: ``SchemeError/denied(_:detail:)`` if the grant is no longer valid; ``SchemeError/badSetting(_:_:)`` if the client
    ///   isn't accepted, which says nothing about the user's grant; ``SchemeError/unavailable(_:detail:)`` if a later attempt may
    ///   succeed.
    func success(_ what: String) throws(SchemeError) -> JSONValue {
        if isSuccess, let json { return json }
        throw failure(of: what)
    }

    /// Whether the status is a success and the body, if there is any, doesn't say otherwise.
    var isSuccess: Bool { status / 100 == 2 && error == nil }

    func failure(of what: String) -> SchemeError {
        switch meaning {
        case .outage: .unavailable("the server can't serve \(what) now: \(reason)\(askedWait)")
        case .refusal: .denied("the server refused \(what): \(reason)")
        case .client:
            .badSetting(clientSetting, "was not accepted by the server with \(what): \(reason); \(clientAdvice)")
        case .setting(let name): .badSetting(name, "was not accepted by the server with \(what): \(reason)")
        case .unknown: .unavailable("the server refused \(what): \(reason)\(askedWait)")
        case .otherFormat: .unavailable("the server's response to \(what) is not one of OAuth (status \(status))")
        }
    }
}

extension ServerAnswer {
    /// The meaning of a failure for the grant. Only a refusal of the grant ends a session.
    enum Meaning: Equatable {
        /// The server, or a proxy before it, is overloaded or broken.
        case outage
        case refusal
        /// The client's identifier or proof is wrong; the user's grant may still be valid.
        case client
        /// The value of this setting.
        case setting(String)
        /// The code is one that this client doesn't know.
        case unknown
        /// The response is not one of OAuth: the page of a server in trouble, for example.
        case otherFormat
    }

    var meaning: Meaning {
        switch status {
        case _ where isFromProxy: return .outage
        case 408, 425, 429, 500...: return .outage
        default: break
        }
        guard let error else {
            guard json == nil, isEmpty else { return .otherFormat }
            switch status {
            // RFC 6749 §5.2 demands the challenge for `invalid_client`.
            case 401 where hasChallenge: return .client
            // Glewlwyd's, for one. A 403 is a proxy's or a firewall's as well.
            case 400, 401: return .refusal
            default: return .otherFormat
            }
        }
        return switch OAuthErrorMeaning(code: error, status: status) {
        case .outage, .unfinished: .outage
        case .refusal: .refusal
        case .client: .client
        case .grantType: .setting("grant")
        case .scope: .setting("scope")
        case .target: .setting("resource or audience")
        case .redirectURI: .setting("redirect-uri")
        case .unknown: .unknown
        }
    }

    /// Whether the server says that it doesn't know this token, or knows no such kind (RFC 7009 §2.2.1).
    var deniesKnowingToken: Bool {
        guard let error, !isFromProxy, status < 500 else { return false }
        return error.utf8.elementsEqual("invalid_token".utf8) || error.utf8.elementsEqual("token_revoked".utf8)
    }

    var refusesKindOfToken: Bool { error?.utf8.elementsEqual("unsupported_token_type".utf8) ?? false }

    /// The server's words, safe to show: `invalid_grant (Token has expired)`.
    private var reason: String {
        guard let error else { return isFromProxy ? "status \(status) of a proxy" : "status \(status)" }
        let code = ServerText.shown(error, without: secrets)
        let description = (json?["error_description"] ?? json?["error"]?["message"])?.string ?? ""
        let words = ServerText.shown(description, without: secrets)
        return (status / 100 == 5 || status == 429 ? "status \(status), " : "") + code + (words.isEmpty ? "" : " (\(words))")
    }

    private var askedWait: String {
        switch retryAfter {
        case .some(let seconds) where seconds > 0: "; it asks to wait for \(seconds) s"
        default: ""
        }
    }
}

extension JSONValue {
    fileprivate var isObject: Bool { if case .object = self { true } else { false } }
}

extension String {
    /// Compares as HTTP compares names.
    ///
    /// - Parameter name: in lower case.
    func isHeaderName(_ name: StaticString) -> Bool {
        guard utf8.count == name.utf8CodeUnitCount else { return false }
        return zip(utf8, UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
            .allSatisfy { $0.asciiLowercased == $1 }
    }
}
