internal import NevodPluginKit
internal import NevodSupport

/// A form of a page, as a browser sends it: its fields with their values, and the address that it goes to.
struct PageForm {
    let fields: [(name: String, value: String)]
    /// Nil if the page doesn't say it.
    let target: PageURL?

    /// Finds the form of a login: with the password's field and no other one for passwords, and the user name's if possible.
    ///
    /// - Parameter origin: the only one that the form may go to; nil if its address isn't used.
    /// - Returns: nil if the page has none, or isn't a page.
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
    /// The address that the form goes to; nil if it is no http or https URL.
    func target(_ page: HTMLPage, _ url: PageURL) -> PageURL? {
        guard !action.isEmpty else { return url }
        let base = page.baseHref.flatMap { url.resolving($0) } ?? url
        return base.resolving(action)
    }

    /// Whether the form goes to an address. The items of its query may be among the form's fields: applications take them from either.
    ///
    /// - Parameter isStrict: whether the form has to have the address's items, and not only no others of their names.
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
