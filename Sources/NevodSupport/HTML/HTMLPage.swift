/// An HTML page (HTML Living Standard), to the extent that a login needs it: its forms, `meta` elements, title and messages.
///
/// The page is read once from beginning to end, in time that grows with its size. There are no errors: as in a browser, every
/// sequence of bytes is a page, even an incomplete one. The reader knows the open elements, but builds no tree. It differs from a
/// browser in two places: where a browser reopens an element such as `b`, and in a page with a `frameset`, where a browser finds
/// no forms.
package struct HTMLPage: Sendable {
    /// The forms in the page's order, at most ``HTMLPage/mostForms``. If there are fields that belong to no form, they follow as
    /// one more.
    package let forms: [HTMLForm]
    /// The `meta` elements with a name, at most ``HTMLPage/mostMetas``.
    package let metas: [HTMLMeta]
    /// The addresses of the page's links as written, at most ``HTMLPage/mostLinks``.
    package let links: [String]
    /// The title with its white space collapsed, at most 200 characters.
    package let title: String
    /// The page's messages to a person, such as "Wrong password": at most 3, of at most 200 characters each. They are untrusted,
    /// but contain no control characters.
    package let alerts: [String]
    /// The base of the page's addresses, as written; nil if it is the page's own address.
    package let baseHref: String?
    /// Whether the page has an input of type `password` anywhere.
    package let hasPassword: Bool
    /// Whether something is missing here: forms above the limit, or fields.
    package let isCut: Bool

    /// The largest number of forms that are read.
    package static let mostForms = 64
    /// The largest number of `meta` elements that are read.
    package static let mostMetas = 256
    /// The largest number of links that are read.
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

    /// The first form that has a field with that name.
    package func form(with name: String) -> HTMLForm? {
        forms.first { $0.field(named: name) != nil }
    }

    /// The first form that has an input of type `password`.
    package var passwordForm: HTMLForm? {
        forms.first { $0.hasPassword }
    }

    /// The content of the first `meta` element with that name, in upper or lower case.
    package func meta(named name: String) -> String? {
        metas.first { $0.name.utf8.lazy.map { $0.lowercased }.elementsEqual(name.utf8.lazy.map { $0.lowercased }) }?
            .content
    }
}

/// A `meta` element that has a name.
package struct HTMLMeta: Sendable {
    package let name: String
    package let content: String
}
