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

    /// The number of wrong codes after which the login fails. If a code of `totp` is refused, the next period's code is tried,
    /// because another login may have used the first.
    var mostCodes: Int { totp == nil ? 3 : 2 }

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
        // The first sign is for JSON, the second for a page with the code's field.
        let standard = ["code=MFA_REQUIRED", "field:\(codeField)"]
        when = try Sign.signs(settings.mfaWhen.isEmpty ? standard : settings.mfaWhen, of: "mfa-when", namesMember: true)
        expired = try Sign.signs(["code=MFA_EXPIRED", "410"] + settings.mfaExpired, of: "mfa-expired", namesMember: true)
        session = settings.mfaSession.memberPath
    }

    func asksForCode(_ answer: Answer) -> Bool { when.hold(in: answer) }

    /// Whether a page has the form for the code.
    func hasForm(_ answer: Answer) -> Bool { answer.hasForm(with: [codeField]) }

    func isExpired(_ answer: Answer) -> Bool { expired.hold(in: answer) }

    /// The member to send back with the code. It is sent under the last part of its name.
    func session(in answer: Answer) -> (name: String, value: JSONValue)? {
        guard let name = session.last, let value = answer.json?.member(at: session), value.asText != nil else { return nil }
        return (name, value)
    }
}

/// The login's second step: finds the form for the code, and sends the code.
extension Login {
    func finish(
        _ challenge: Answer, with secondFactor: SecondFactor
    ) async throws(SchemeError) -> LoginResult {
        let form = try await codeForm(challenge, secondFactor)
        guard let url = secondFactor.url ?? form?.target else {
            throw .unavailable("there is no form with the field \(secondFactor.codeField) for the code; set mfa or mfa-page")
        }
        codePages.append(url)
        let code = try await code(secondFactor)
        var fields = Fields(form?.fields ?? [])
        if let (name, value) = secondFactor.session(in: challenge) { fields.set(name, value) }
        for (name, value) in secondFactor.fields { fields.set(name, .string(value)) }
        fields.set(secondFactor.codeField, .secret(code))
        browser.forgetRequestToken()
        let answer = try await browser.submit(fields, to: url)
        let result = try await settle(answer, isCode: true)
        switch result {
        case .loggedIn, .open, .codeExpired: return result
        case .codeRequired, .refused:
            wrongCodes += 1
            guard wrongCodes < secondFactor.mostCodes else {
                let words = ServerWords.words(of: answer, hiding: [code] + hidden).map { ": \"\($0)\"" } ?? ""
                throw .denied("the server refused \(wrongCodes) one-time codes\(words)")
            }
            // A server that asks again may have started a new challenge.
            if case .codeRequired(let next) = result, next.page != nil || secondFactor.session(in: next) != nil { return result }
            return .codeRequired(challenge)
        }
    }

    /// The form for the code: from the response, from the page that it leads to, or from a separate page.
    private func codeForm(
        _ challenge: Answer, _ secondFactor: SecondFactor
    ) async throws(SchemeError) -> SubmittedForm? {
        guard scheme.format == .form else { return nil }
        let origin = secondFactor.url?.origin ?? site.loginPage.origin
        codePages = [challenge.url]
        if let form = try SubmittedForm(in: challenge, with: secondFactor.codeField, at: origin) { return form }
        let page =
            if let page = secondFactor.page { try await browser.visit(page) } else { try await browser.follow(challenge) }
        guard let page else { return nil }
        codePages.append(page.url)
        return try SubmittedForm(in: page, with: secondFactor.codeField, at: origin)
    }

    private func code(_ secondFactor: SecondFactor) async throws(SchemeError) -> Secret {
        guard let totp = secondFactor.totp else {
            let prompt = wrongCodes == 0 ? "One-time code" : "One-time code (the last one was refused)"
            return try await browser.flow.ask(.code("code", prompt))
        }
        if wrongCodes > 0 {
            // The server accepts each code once, and another login may have used this one.
            let seconds = totp.period - browser.flow.unixSeconds % totp.period
            try await browser.flow.wait(.seconds(seconds))
        }
        return try totp.code(at: browser.flow.unixSeconds)
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
