/// The elements that have a meaning for ``HTMLPage``.
enum HTMLElement: String, CaseIterable {
    case form, input, button, select, option, optgroup, textarea, fieldset, legend, datalist
    case a, base, meta, title, html, body
    case script, style, xmp, iframe, noembed, noframes, plaintext
    case template, noscript, svg, math
    case br, img, link, area, col, embed, source, track, wbr, param
    case hr, p, li, address, article, aside, blockquote, center, details, dir, div, dl, dd, dt, figure, figcaption, footer
    case h1, h2, h3, h4, h5, h6, header, main, menu, nav, ol, pre, section, summary, table, tr, td, th, ul

    // Grouped by length, so that a page full of tags is read as fast as any other.
    private static let byLength = (0...10).map { length in allCases.filter { $0.rawValue.utf8.count == length } }

    init?(_ page: UnsafeRawBufferPointer, _ range: Range<Int>) {
        guard range.count < Self.byLength.count,
            let element = Self.byLength[range.count].first(where: { page.isText($0.rawValue, range) })
        else { return nil }
        self = element
    }

    /// Whether the element has no content (HTML §13.1.2).
    var isVoid: Bool {
        switch self {
        case .input, .base, .meta, .br, .img, .link, .area, .col, .embed, .source, .track, .wbr, .param, .hr: true
        default: false
        }
    }

    /// Whether the element contains only text (HTML §13.2.6.4).
    var isText: Bool {
        switch self {
        case .textarea, .title, .script, .style, .xmp, .iframe, .noembed, .noframes, .plaintext: true
        default: false
        }
    }

    /// Whether the element begins a new line in a browser, and can't be inside a paragraph.
    var isBlock: Bool {
        switch self {
        case .form, .fieldset, .legend, .hr, .p, .li, .address, .article, .aside, .blockquote, .center, .details, .dir, .div, .dl,
            .dd, .dt, .figure, .figcaption, .footer, .h1, .h2, .h3, .h4, .h5, .h6, .header, .main, .menu, .nav, .ol, .pre,
            .section,
            .summary, .table, .tr, .td, .th, .ul:
            true
        default: false
        }
    }
}

/// The name of a tag, as the page writes it.
struct HTMLTagName {
    let element: HTMLElement?
    private let range: Range<Int>

    init(_ page: UnsafeRawBufferPointer, _ range: Range<Int>) {
        self.range = range
        element = HTMLElement(page, range)
    }

    /// Whether two tags have the same name, in upper or lower case.
    func equals(_ other: HTMLTagName, in page: UnsafeRawBufferPointer) -> Bool {
        range.count == other.range.count
            && zip(range, other.range).allSatisfy { page[$0].lowercased == page[$1].lowercased }
    }
}

/// The attributes that have a meaning for ``HTMLPage``.
enum HTMLAttribute: String, CaseIterable {
    case name, value, type, id, form, checked, selected, disabled, multiple, size
    case action, method, enctype, autocomplete
    case content, href
    case `class`, role, style, hidden
    case ariaHidden = "aria-hidden"

    private static let byLength = (0...12).map { length in allCases.filter { $0.rawValue.utf8.count == length } }

    init?(_ page: UnsafeRawBufferPointer, _ range: Range<Int>) {
        guard range.count < Self.byLength.count,
            let attribute = Self.byLength[range.count].first(where: { page.isText($0.rawValue, range) })
        else { return nil }
        self = attribute
    }
}

/// The places of a start tag's attributes in the page.
struct HTMLAttributes {
    private var values: [(attribute: HTMLAttribute, place: Range<Int>)] = []
    /// Whether the tag ends with a slash.
    var isSelfClosing = false

    mutating func removeAll() {
        values.removeAll(keepingCapacity: true)
        isSelfClosing = false
    }

    /// Adds an attribute, unless there is one with this name.
    mutating func add(_ attribute: HTMLAttribute?, _ place: Range<Int>) {
        guard let attribute, self[attribute] == nil else { return }
        values.append((attribute, place))
    }

    subscript(attribute: HTMLAttribute) -> Range<Int>? {
        values.first { $0.attribute == attribute }?.place
    }

    func has(_ attribute: HTMLAttribute) -> Bool { self[attribute] != nil }
}

extension UnsafeRawBufferPointer {
    /// Whether a part is this text, in upper or lower case.
    ///
    /// - Parameter text: in lower case.
    package func isText(_ text: String, _ range: Range<Int>) -> Bool {
        range.count == text.utf8.count && zip(range, text.utf8).allSatisfy { self[$0].lowercased == $1 }
    }
}
