import NevodHost
import NevodSupport

/// The form of a page by which a user logs in.
struct LoginForm {
    let form: HTMLForm
    /// The address that the form is sent to.
    let action: SiteAddress
    /// Empty for a form that asks for a password only.
    let usernameField: String
    let passwordField: String

    /// Finds the form with one password field. A form with several is a registration, or the change of a password.
    init(of page: SitePage) throws(SiteLoginError) {
        let forms = page.html.forms.filter { $0.isForm && !Self.passwords(of: $0).isEmpty }
        // The form with the fewest text fields comes first: a registration has more to fill in than a login.
        let logins = forms.filter { Self.passwords(of: $0).count == 1 }.enumerated()
            .sorted { (Self.texts(of: $0.element).count, $0.offset) < (Self.texts(of: $1.element).count, $1.offset) }
            .map(\.element)
        guard let form = logins.first else { throw Self.problem(page, hasForms: !forms.isEmpty) }
        guard !form.isCut else { throw Self.tooLarge(page) }
        guard form.method == "POST" else {
            throw SiteLoginError(
                "the login form of \(page.address) is not sent by the browser itself (its method is \(form.method)) but by a script, and "
                    + "the page doesn't say where to; \(SiteLoginError.byHand)")
        }
        // RFC 3986 §5.1.1: an address in the page is relative to its <base>.
        let base = page.html.baseHref.flatMap(page.address.resolving) ?? page.address
        guard let action = form.action.isEmpty ? page.address : base.resolving(form.action) else {
            throw SiteLoginError(
                "the login form of \(page.address) is sent to \"\(form.action)\", which is not an http or https address; \(SiteLoginError.byHand)"
            )
        }
        guard action.origin == page.address.origin else {
            throw SiteLoginError(
                "the login form of \(page.address) sends user name and password to another origin, \(action.origin); nothing was sent "
                    + "there; if you trust it, \(SiteLoginError.byHand)")
        }
        self.form = form
        self.action = action.withoutVisit(from: page.given)
        passwordField = Self.passwords(of: form).first?.name ?? ""
        usernameField = Self.userField(of: form, before: passwordField)?.name ?? ""
    }

    /// Whether a servlet container keeps the session (Jakarta Servlet 6.0, §13.6.3). A container shows the form at the protected
    /// address itself, and accepts a login only after it has shown the form.
    var isOfContainer: Bool { action.lastName == "j_security_check" }

    /// Whether the form has a field of this name, visible or hidden.
    func has(_ field: String) -> Bool { form.field(named: field) != nil }

    private static func passwords(of form: HTMLForm) -> [HTMLField] {
        form.fields.filter { $0.type == "password" && !$0.isDisabled && !$0.name.isEmpty }
    }

    private static let textTypes = ["text", "email", "tel", "number", "url"]

    private static func texts(of form: HTMLForm) -> [HTMLField] {
        form.fields.filter { textTypes.contains($0.type) && !$0.isDisabled && !$0.name.isEmpty }
    }

    /// The field that the page marks as the user name, or else the last text field before the password.
    private static func userField(of form: HTMLForm, before password: String) -> HTMLField? {
        let texts = texts(of: form)
        if let named = texts.first(where: { $0.autocomplete == "username" }) { return named }
        let before = form.fields.prefix { $0.name != password }.last { field in
            textTypes.contains(field.type) && !field.isDisabled && !field.name.isEmpty
        }
        return before ?? texts.first { $0.autocomplete != "one-time-code" }
    }

    private static func problem(_ page: SitePage, hasForms: Bool) -> SiteLoginError {
        let place = "the page \(page.address)"
        if let problem = challengeProblem(page) { return problem }
        guard !page.html.isCut else { return tooLarge(page) }
        guard page.status < 400 else {
            return SiteLoginError(
                "the server responded with \(page.status) to \(page.address), which has no login form; give the address of the login page"
            )
        }
        guard !hasForms else {
            return SiteLoginError(
                "\(place) has a form with several passwords, to register or to change a password, but no login form; give the address of "
                    + "the login page")
        }
        let script =
            if page.html.forms.contains(where: { $0.isForm && $0.hasPassword }) {
                "its password field has no name, and is sent by a script"
            } else if page.html.hasPassword {
                "its password field belongs to no form, and is sent by a script"
            } else {
                "a script may build it"
            }
        return SiteLoginError(
            "\(place) has no form with a password field (\(script)); give the address of the login page, or \(SiteLoginError.byHand)"
        )
    }

    private static func tooLarge(_ page: SitePage) -> SiteLoginError {
        SiteLoginError(
            "the page \(page.address) has more forms or fields than are read (512 fields in a form); give the address of the login page, or "
                + SiteLoginError.byHand)
    }

    /// Returns an error that names the flags for a server that sends a challenge (RFC 9110 §11.6.1); nil without a challenge.
    private static func challengeProblem(_ page: SitePage) -> SiteLoginError? {
        guard page.status == 401, let challenge = page.challenges.first else { return nil }
        let url = ShellWord.quoted(page.address.text)
        let schemes = page.challenges.map { $0.scheme.lowercased() }
        let wayOut =
            if schemes.contains("digest") {
                "give a user name with each request, to be asked for the password: nevod-host --digest -u NAME \(url)"
            } else if schemes.contains("basic") {
                "give a user name with each request, to be asked for the password: nevod-host -u NAME \(url)"
            } else if schemes.contains("bearer") {
                "give a token with each request: nevod-host --bearer env:VARIABLE \(url), or log in for one with --plugin libOAuth2Auth.so"
            } else {
                "nevod-host help plugins says how to add a scheme"
            }
        return SiteLoginError("\(page.address) has no login form: its server asks for \(challenge.title); \(wayOut)")
    }
}
