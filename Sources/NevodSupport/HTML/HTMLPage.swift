/// An HTML page (HTML Living Standard), as far as a login needs it: its forms, `meta` elements, title and messages.
///
/// The page is read once from beginning to end, in a time that grows with its size. Nothing is an error: as in a browser, each
/// sequence of bytes is a page. It need not be whole. Without a tree of elements, a page that nests them wrongly may have a field
/// disabled, or a message longer, than in a browser.
package struct HTMLPage: Sendable {
    /// The forms in the page's order, at most ``HTMLPage/mostForms``; then the fields that belong to none, if there are any.
    package let forms: [HTMLForm]
    /// The `meta` elements with a name, at most ``HTMLPage/mostMetas``.
    package let metas: [HTMLMeta]
    /// The addresses of the page's links as they are written, at most ``HTMLPage/mostLinks``.
    package let links: [String]
    /// The title, its white space collapsed, at most 200 characters.
    package let title: String
    /// The page's messages to a person, such as "Wrong password": at most 3, of at most 200 characters. Untrusted, without
    /// controls.
    package let alerts: [String]
    /// The base of the page's addresses, as it is written; nil if it is the page's own address.
    package let baseHref: String?
    /// Whether the page has an input of type password anywhere.
    package let hasPassword: Bool
    /// Whether something is missing here: forms above the bound, or fields.
    package let isCut: Bool

    /// The most forms that are read.
    package static let mostForms = 64
    /// The most `meta` elements that are read.
    package static let mostMetas = 256
    /// The most links that are read.
    package static let mostLinks = 1024

    /// Reads a page in UTF-8.
    package init(bytes: UnsafeRawBufferPointer) {
        var reader = HTMLReader(bytes)
        reader.read()
        forms = reader.forms.list
        metas = reader.metas
        links = reader.links
        title = reader.title ?? ""
        alerts = reader.alerts.texts
        baseHref = reader.baseHref
        hasPassword = reader.forms.hasPassword
        isCut = reader.forms.isCut
    }

    /// Reads a page in UTF-8.
    package init(_ page: Secret) {
        self = page.withUnsafeBytes { HTMLPage(bytes: $0) }
    }

    /// The first form that has a field of that name.
    package func form(with name: String) -> HTMLForm? {
        forms.first { $0.field(named: name) != nil }
    }

    /// The first form that has an input of type password.
    package var passwordForm: HTMLForm? {
        forms.first { $0.hasPassword }
    }

    /// The content of the first `meta` element of that name, its letters in either case.
    package func meta(named name: String) -> String? {
        metas.first { $0.name.utf8.lazy.map { $0.asciiLowercased }.elementsEqual(name.utf8.lazy.map { $0.asciiLowercased }) }?
            .content
    }
}
