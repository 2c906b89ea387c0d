internal import NevodPluginKit
internal import NevodSupport

/// How a login that is answered with "code required" goes on.
struct MultiFactor: Sendable {
    let url: String
    let codeField: String
    private let when: MemberRule?
    private let status: Int?
    private let expired: MemberRule?
    private let session: String

    /// How many wrong codes a person may give.
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

    func asksForCode(_ response: FlowResponse, _ answer: JSONValue?) -> Bool {
        (status ?? response.status) == response.status && when.map { $0.holds(in: answer) } ?? true
    }

    func isExpired(_ response: FlowResponse, _ answer: JSONValue?) -> Bool {
        response.status == 410 || expired.map { $0.holds(in: answer) } ?? false
    }

    /// What goes back with the code, under the last part of its name.
    func session(in answer: JSONValue?) -> (name: String, value: JSONValue)? {
        guard let value = answer?.member(at: session), value.asText != nil else { return nil }
        return (session.split(separator: ".").last.map(String.init) ?? session, value)
    }
}

/// A member of a JSON object, and the value that it has; dots stand between the names of nested ones.
struct MemberRule: Sendable {
    private let path: String
    private let value: String

    /// Nil for an empty setting.
    init?(_ text: String, of setting: String) throws(SchemeError) {
        guard !text.isEmpty else { return nil }
        guard let (path, value) = text.splitAtEquals else { throw .badSetting(setting, "must be NAME=VALUE") }
        self.path = path
        self.value = value
    }

    func holds(in answer: JSONValue?) -> Bool { answer?.member(at: path)?.asText == value }
}

extension JSONValue {
    fileprivate func member(at path: String) -> JSONValue? {
        path.split(separator: ".").reduce(self) { value, name in value?[String(name)] }
    }

    /// As a form would have it.
    var asText: String? {
        switch self {
        case .string(let text): text
        case .integer(let number): String(number)
        case .bool(let bool): bool ? "true" : "false"
        default: nil
        }
    }
}
