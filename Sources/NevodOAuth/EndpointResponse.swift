package import NevodSupport

/// A response from one of an authorization server's endpoints, with a result or an error (RFC 6749 §5).
package struct EndpointResponse: Sendable {
    package let status: Int
    package let body: EndpointBody
    /// Whether a proxy sent the response instead of the server.
    package let isFromProxy: Bool
    private let hasChallenge: Bool

    /// - Parameter hasChallenge: whether the response has a `WWW-Authenticate` line.
    package init(status: Int, body: UnsafeRawBufferPointer, hasChallenge: Bool = false, isFromProxy: Bool = false) {
        self.status = status
        self.body = EndpointBody(body)
        self.hasChallenge = hasChallenge
        self.isFromProxy = isFromProxy
    }

    /// Whether the status is a success and the body doesn't say otherwise: some servers send errors with status 200.
    package var isSuccess: Bool { (200...299).contains(status) && body.error == nil }

    /// The meaning of a response that isn't a success. A server that fails has not refused anything, whatever its code.
    package var meaning: OAuthErrorMeaning {
        switch status {
        case _ where isFromProxy: return .outage
        case 408, 425, 429, 500...: return .outage
        default: break
        }
        if let code = body.error { return OAuthErrorMeaning(code: code, status: status) }
        guard case .empty = body else { return .otherFormat }
        switch status {
        // RFC 6749 §5.2 demands the challenge for `invalid_client`.
        case 401 where hasChallenge: return .client
        // The server Glewlwyd does this. A 403 could come from a proxy or a firewall.
        case 400, 401: return .refusal
        default: return .otherFormat
        }
    }
}

/// The body of such a response: JSON, or from some servers a form, whatever the request's Accept says.
package enum EndpointBody: Sendable, Equatable {
    /// Has no bytes.
    case empty
    /// An object. The fields of a form are its members, as strings.
    case object(JSONValue)
    /// A malformed object, or an object or a form that repeats a name: two readers of one response could each take a different
    /// value.
    case unreadable
    /// Anything else, such as an HTML page.
    case other

    /// Skips a byte order mark, as RFC 8259 §8.1 allows. The caller limits the size.
    package init(_ bytes: UnsafeRawBufferPointer) {
        let content = bytes.withoutByteOrderMark
        switch content.first(where: { $0 > 0x20 }) {
        case UInt8(ascii: "{"):
            // Some servers send Latin-1 in the description of an error, where it does no harm.
            if let json = try? JSONValue(response: Span(_unsafeBytes: bytes), repairsText: true) {
                self = .object(json)
            } else {
                self = .unreadable
            }
        case nil: self = bytes.isEmpty ? .empty : .other
        // A page, with links that may look like a form's fields, or JSON that isn't an object.
        case UInt8(ascii: "<"), UInt8(ascii: "["), UInt8(ascii: "\""): self = .other
        default: self = Self.form(Array(content))
        }
    }

    private static func form(_ text: [UInt8]) -> EndpointBody {
        let items = FormItem.items(of: text)
        let isOAuth = items.contains { item in
            ["error", "access_token", "device_code"].contains { item.name.elementsEqual($0.utf8) }
        }
        guard isOAuth else { return .other }
        var names: Set<[UInt8]> = []
        for item in items where !names.insert(item.name).inserted { return .unreadable }
        let members = items.map { item in
            JSONValue.Member(String(decoding: item.name, as: UTF8.self), .string(String(decoding: item.value, as: UTF8.self)))
        }
        return .object(.object(members))
    }

    package var json: JSONValue? { if case .object(let json) = self { json } else { nil } }

    /// The code of the error that the server reports, or whatever it sent in its place. Empty if the server reports an error
    /// without a code; nil if it reports none.
    package var error: String? {
        guard let json else { return nil }
        if let error = json["error"] {
            if let code = error.string, !code.isEmpty { return code }
            // Google's APIs send an object here.
            if case .object = error { return error["status"]?.string ?? error["type"]?.string ?? "" }
        }
        // Slack reports errors with status 200.
        return json["ok"]?.bool == false ? "" : nil
    }

    /// The server's words for people about the error; nil if there are none.
    package var errorDescription: String? {
        (json?["error_description"] ?? json?["error"]?["message"])?.string
    }
}
