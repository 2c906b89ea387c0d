internal import NevodPluginKit
internal import NevodSupport

/// The second step of a login, after a response that demands a one-time code.
struct SecondFactor: Sendable {
    /// The address for the code; nil to use the address of the code's form.
    let url: PageURL?
    let page: PageURL?
    let codeField: String
    let fields: [(name: String, value: String)]
    let totp: TOTP?
    private let when: [Sign]
    private let expired: [Sign]
    private let session: [String]

    /// The number of wrong codes after which the login fails.
    static let mostCodes = 3

    /// Reads the settings; nil if no setting says that the site uses codes.
    init?(_ settings: CookieAuth) throws(SchemeError) {
        guard settings.mfa != nil || !settings.mfaWhen.isEmpty || settings.totp != nil || settings.mfaPage != nil else {
            if !settings.mfaExpired.isEmpty { throw .badSetting("mfa-expired", "has no meaning without mfa or mfa-when") }
            if !settings.mfaFields.isEmpty { throw .badSetting("mfa-field", "has no meaning without mfa or mfa-when") }
            return nil
        }
        url = settings.mfa.flatMap { PageURL($0.text) }
        page = settings.mfaPage.flatMap { PageURL($0.text) }
        codeField = settings.mfaCode
        guard !codeField.isEmpty else { throw .badSetting("mfa-code", "must not be empty") }
        fields = try Site.fields(settings.mfaFields, "mfa-field")
        totp = try settings.totp.map { secret throws(SchemeError) in try TOTP(secret) }
        // For a response in JSON, and for a page with the code's field.
        let standard = ["code=MFA_REQUIRED", "field:\(codeField)"]
        when = try Sign.signs(settings.mfaWhen.isEmpty ? standard : settings.mfaWhen, of: "mfa-when", namesMember: true)
        expired = try Sign.signs(["code=MFA_EXPIRED", "410"] + settings.mfaExpired, of: "mfa-expired", namesMember: true)
        session = settings.mfaSession.memberPath
    }

    func asksForCode(_ answer: Answer) -> Bool { when.hold(in: answer) }

    /// Whether a page has the form for the code.
    func hasForm(_ answer: Answer) -> Bool { answer.hasForm(with: [codeField]) }

    func isExpired(_ answer: Answer) -> Bool { expired.hold(in: answer) }

    /// The member that is sent back with the code, under the last part of its name.
    func session(in answer: Answer) -> (name: String, value: JSONValue)? {
        guard let name = session.last, let value = answer.json?.member(at: session), value.asText != nil else { return nil }
        return (name, value)
    }
}

extension HTMLPage {
    /// The name of a field that is marked for one-time codes (HTML §4.10.18.7.1); nil if there is none.
    var codeField: String? {
        for form in forms {
            for field in form.fields where !field.name.isEmpty && field.autocomplete.utf8.elementsEqual("one-time-code".utf8) {
                return field.name
            }
        }
        return nil
    }
}
