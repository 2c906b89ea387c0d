/// The elements that have a meaning for ``HTMLPage``.
enum HTMLElement: String, CaseIterable {
    case form, input, button, select, option, optgroup, textarea, fieldset, legend, datalist
    case a, base, meta, title, html, head, body, frameset
    case script, style, xmp, iframe, noembed, noframes, plaintext
    case template, noscript, svg, math
    case br, img, image, link, area, col, embed, source, track, wbr, param, basefont, bgsound, frame, keygen
    case hr, p, li, address, article, aside, blockquote, center, details, dialog, dir, div, dl, dd, dt, figure, figcaption, footer
    case h1, h2, h3, h4, h5, h6, header, hgroup, listing, main, menu, nav, ol, pre, search, section, summary, ul
    case table, caption, colgroup, tbody, thead, tfoot, tr, td, th
    case applet, marquee, object
    case b, big, code, em, font, i, nobr, s, small, strike, strong, tt, u, ruby, span, sub, sup, `var`
    // Parts of drawings and formulas that contain HTML.
    case foreignObject = "foreignobject"
    case desc, mi, mo, mn, ms, mtext
    case annotation = "annotation-xml"

    // Grouped by length, so that a page full of tags is read as fast as any other.
    private static let byLength = (0...14).map { length in allCases.filter { $0.rawValue.utf8.count == length } }

    init?(_ page: UnsafeRawBufferPointer, _ range: Range<Int>) {
        guard range.count < Self.byLength.count,
            let element = Self.byLength[range.count].first(where: { page.isText($0.rawValue, range) })
        else { return nil }
        self = element
    }

    /// Whether the element has no content (HTML §13.1.2).
    var isVoid: Bool {
        switch self {
        case .input, .base, .meta, .br, .img, .image, .link, .area, .col, .embed, .source, .track, .wbr, .param, .hr, .basefont,
            .bgsound, .frame, .keygen:
            true
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

    /// Whether the element begins a new line in a browser.
    var isBlock: Bool { closesParagraph || self == .legend || level != nil }

    /// Whether the element can't be inside a paragraph (HTML §13.2.6.4.7).
    var closesParagraph: Bool {
        switch self {
        case .form, .fieldset, .hr, .p, .li, .address, .article, .aside, .blockquote, .center, .details, .dialog, .dir, .div, .dl,
            .dd, .dt, .figure, .figcaption, .footer, .h1, .h2, .h3, .h4, .h5, .h6, .header, .hgroup, .listing, .main, .menu, .nav,
            .ol, .plaintext, .pre, .search, .section, .summary, .table, .ul, .xmp:
            true
        default: false
        }
    }

    /// Whether the end tags of elements around the element don't close it (HTML §13.2.4.2, the special category).
    var isSpecial: Bool {
        switch self {
        case .applet, .button, .marquee, .noscript, .object, .select, .template: true
        case .dialog: false
        default: closesParagraph || level != nil
        }
    }

    var isHeading: Bool {
        switch self {
        case .h1, .h2, .h3, .h4, .h5, .h6: true
        default: false
        }
    }

    /// Whether the element formats text (HTML §13.2.4.3).
    var isFormatting: Bool {
        switch self {
        case .a, .b, .big, .code, .em, .font, .i, .nobr, .s, .small, .strike, .strong, .tt, .u: true
        default: false
        }
    }

    /// Whether the element ends with the element around it (HTML §13.2.6.3).
    var isImplied: Bool {
        switch self {
        case .dd, .dt, .li, .optgroup, .option, .p: true
        default: false
        }
    }

    /// How deep in a table the element is; nil if it isn't part of one.
    var level: Int? {
        switch self {
        case .table: 0
        case .caption, .col, .colgroup, .tbody, .thead, .tfoot: 1
        case .tr: 2
        case .td, .th: 3
        default: nil
        }
    }

    /// Whether the element ends a drawing or formula around it (HTML §13.2.6.5).
    func endsForeign(_ attributes: HTMLAttributes) -> Bool {
        switch self {
        case .b, .big, .blockquote, .body, .br, .center, .code, .dd, .div, .dl, .dt, .em, .embed, .h1, .h2, .h3, .h4, .h5, .h6,
            .head, .hr, .i, .img, .li, .listing, .menu, .meta, .nobr, .ol, .p, .pre, .ruby, .s, .small, .span, .strong, .strike,
            .sub, .sup, .table, .tt, .u, .ul, .var:
            true
        case .font: attributes.has(.color) || attributes.has(.face) || attributes.has(.size)
        default: false
        }
    }

    /// Whether the element contains HTML, if it is part of a drawing or formula (HTML §13.2.4.2).
    func holdsHTML(isMath: Bool) -> Bool {
        switch self {
        case .foreignObject, .desc, .title: !isMath
        case .mi, .mo, .mn, .ms, .mtext: isMath
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
    case color, face, encoding
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
