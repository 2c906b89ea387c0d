internal import NevodPluginKit
internal import NevodSupport

/// The second step of a login, after a response that demands a one-time code.
struct MultiFactor: Sendable {
    let url: String
    let codeField: String
    private let when: MemberRule?
    private let status: Int?
    private let expired: MemberRule?
    private let session: String

    /// The number of wrong codes after which the login fails.
    static let mostCodes = 3

    init(
        url: String, when: String, status: Int?, expired: String, codeField: String, session: String
    ) throws(SchemeError) {
        self.url = url
        self.when = try MemberRule(when, of: "mfa-when")
        self.status = status
        self.expired = try MemberRule(expired, of: "mfa-expired")
        self.codeField = codeField
        self.session = session
        guard self.when != nil || status != nil else {
            throw .badSetting("mfa-when", "must not be empty without mfa-status")
        }
        guard status.map((100...599).contains) ?? true else {
            throw .badSetting("mfa-status", "must be a number from 100 to 599")
        }
        guard !codeField.isEmpty else { throw .badSetting("mfa-code", "must not be empty") }
    }

    func asksForCode(_ response: FlowResponse, _ json: JSONValue?) -> Bool {
        (status ?? response.status) == response.status && when.map { $0.holds(in: json) } ?? true
    }

    func isExpired(_ response: FlowResponse, _ json: JSONValue?) -> Bool {
        response.status == 410 || expired.map { $0.holds(in: json) } ?? false
    }

    /// The member that is sent back with the code, under the last part of its name.
    func session(in json: JSONValue?) -> (name: String, value: JSONValue)? {
        guard let value = json?.member(at: session), value.asText != nil else { return nil }
        return (session.split(separator: ".").last.map(String.init) ?? session, value)
    }
}

/// A rule that a JSON member has a value. Dots separate the names of nested members.
struct MemberRule: Sendable {
    private let path: String
    private let value: String

    /// Reads a setting `NAME=VALUE`; nil if it is empty.
    init?(_ text: String, of setting: String) throws(SchemeError) {
        guard !text.isEmpty else { return nil }
        guard let (path, value) = text.splitAtEquals else { throw .badSetting(setting, "must be NAME=VALUE") }
        self.path = path
        self.value = value
    }

    func holds(in json: JSONValue?) -> Bool { json?.member(at: path)?.asText == value }
}

extension JSONValue {
    fileprivate func member(at path: String) -> JSONValue? {
        path.split(separator: ".").reduce(self) { value, name in value?[String(name)] }
    }

    /// The value as a form field; nil if it has no such form.
    var asText: String? {
        switch self {
        case .string(let text): text
        case .integer(let number): String(number)
        case .bool(let bool): bool ? "true" : "false"
        default: nil
        }
    }
}
