internal import NevodPluginKit
internal import NevodSupport

/// A form of a page, as a browser sends it: its fields with their values, and the address that it goes to.
struct SubmittedForm {
    let fields: [(name: String, value: String)]
    /// Nil if the form has no address.
    let target: PageURL?

    /// Finds the form of a login. It has the password's field and no other field for passwords, and the user name's field if
    /// possible.
    ///
    /// - Parameter origin: the only origin that the form may go to; nil if its address isn't used.
    /// - Returns: nil if the response has no such form, or isn't a page.
    /// - Throws: if it has too many fields, or goes to another origin.
    init?(ofLogin answer: Answer, _ scheme: CookieAuth, at origin: String?) throws(SchemeError) {
        guard let page = answer.page else { return nil }
        let forms = page.forms.filter { $0.field(named: scheme.passwordField) != nil }
        let form =
            forms.first { $0.isForm && $0.passwords == 1 && $0.field(named: scheme.usernameField) != nil }
            ?? forms.first { $0.isForm && $0.passwords <= 1 } ?? forms.first
        guard let form else { return nil }
        try self.init(form, page, answer.url, at: origin)
    }

    /// Finds the form with a field.
    init?(in answer: Answer, with field: String, at origin: String) throws(SchemeError) {
        guard let page = answer.page, let form = page.form(with: field) else { return nil }
        try self.init(form, page, answer.url, at: origin)
    }

    /// Finds the form that goes to an address.
    init?(in answer: Answer, to url: PageURL) throws(SchemeError) {
        guard let page = answer.page else { return nil }
        guard let form = page.forms.first(where: { $0.isForm && $0.goes(to: url, page, answer.url) }) else { return nil }
        try self.init(form, page, answer.url, at: url.origin)
    }

    private init(_ form: HTMLForm, _ page: HTMLPage, _ url: PageURL, at origin: String?) throws(SchemeError) {
        let place = url.origin + url.path
        guard !form.isCut else { throw .unavailable("the form of \(place) has too many fields, or too long ones") }
        fields = form.successful.map { ($0.name, $0.value) }
        guard let origin, form.isForm else {
            target = nil
            return
        }
        guard let target = form.target(page, url) else {
            throw .unavailable("the form of \(place) has an invalid address")
        }
        guard target.origin.equals(origin) else {
            throw .unavailable("the form of \(place) posts to another origin, \(target.origin); nothing was sent there")
        }
        self.target = target
    }
}

extension HTMLForm {
    /// The address that the form goes to; nil if it isn't an http or https URL.
    func target(_ page: HTMLPage, _ url: PageURL) -> PageURL? {
        guard !action.isEmpty else { return url }
        let base = page.baseHref.flatMap { url.resolving($0) } ?? url
        return base.resolving(action)
    }

    /// Whether the form goes to an address. Items of the address's query may be fields of the form instead, because applications
    /// accept both.
    ///
    /// - Parameter isStrict: whether the form must have all of the address's items. If not, it may lack an item, but must not
    ///   give it another value.
    func goes(to address: PageURL, _ page: HTMLPage, _ url: PageURL, isStrict: Bool = true) -> Bool {
        guard let target = target(page, url), target.origin.equals(address.origin), target.path.equals(address.path) else {
            return false
        }
        let items = target.queryItems + fields.map { Array("\($0.name)=\($0.value)".utf8) }
        return address.queryItems.allSatisfy { item in
            let name = item.prefix { $0 != UInt8(ascii: "=") }
            return items.contains(item)
                || !isStrict && !items.contains { $0.prefix { $0 != UInt8(ascii: "=") }.elementsEqual(name) }
        }
    }

    /// The number of fields for passwords.
    var passwords: Int { fields.count { $0.type.equals("password") } }
}

/// The fields of a login, of a code or of a logout, sent as a form or as JSON.
struct Fields {
    private var fields: [(name: String, value: JSONValue)]

    init(_ fields: [(name: String, value: String)] = []) {
        self.fields = fields.map { ($0.name, .string($0.value)) }
    }

    /// Replaces the first field of that name, or appends one.
    mutating func set(_ name: String, _ value: JSONValue) {
        if let index = fields.firstIndex(where: { $0.name.equals(name) }) {
            fields[index].value = value
        } else {
            fields.append((name, value))
        }
    }

    var json: JSONValue { .object(fields.map { JSONValue.Member($0.name, $0.value) }) }

    var form: FormFields {
        var form = FormFields()
        for (name, value) in fields {
            if case .secret(let secret) = value {
                form.append(name, .secret(secret))
            } else {
                form.append(name, .text(value.asText ?? ""))
            }
        }
        return form
    }
}
