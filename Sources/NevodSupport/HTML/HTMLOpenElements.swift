/// The open elements at a place of a page (HTML §13.2.4.2), outermost first: the elements around the place in a browser's tree.
struct HTMLOpenElements {
    private let page: UnsafeRawBufferPointer
    private var elements: [HTMLOpenElement] = []

    /// How many of the innermost elements are searched, so that no page is slow to read. Pages for people don't nest deeper.
    private static let mostSearched = 256

    init(_ page: UnsafeRawBufferPointer) {
        self.page = page
    }

    /// What the next element or text is within.
    var context: HTMLContext { elements.last?.context ?? HTMLContext() }

    /// Whether the innermost element is in a drawing or a formula, whose start tags and texts have a meaning of their own.
    var isForeign: Bool { elements.last?.context.isForeign ?? false }

    /// Whether a start tag is an element of the drawing or formula, not of HTML (HTML §13.2.6).
    var hasForeignContent: Bool { elements.last.map { $0.context.isForeign && !$0.holdsHTML } ?? false }

    /// Whether the next element is in a table, but not in a cell. A form there has no content.
    var isBetweenCells: Bool { part.map { (elements[$0].level ?? Self.cell) < Self.cell } ?? false }

    /// Opens an element.
    ///
    /// - Parameter context: what its content is within.
    mutating func push(_ tag: HTMLTagName, _ context: HTMLContext, holdsHTML: Bool = false) {
        var element = HTMLOpenElement(
            tag: tag, context: context, isDisabledOutside: self.context.isDisabled, holdsHTML: holdsHTML)
        if element.html == .legend, let last = elements.indices.last, elements[last].isBeforeLegend {
            // A disabled fieldset doesn't disable the fields in its first legend (HTML §4.10.15).
            element.context.isDisabled = elements[last].isDisabledOutside
            elements[last].isBeforeLegend = false
        }
        element.isBeforeLegend = element.html == .fieldset
        elements.append(element)
    }

    // MARK: - Start tags

    /// Closes the elements that a start tag closes (HTML §13.2.6.4.7).
    ///
    /// - Returns: false if the tag does nothing else.
    mutating func prepare(for element: HTMLElement?) -> Bool {
        guard let element else { return true }
        if let level = element.level, level > 0 { return preparePart(level) }
        if element.closesParagraph { closeOne(.p, in: .button) }
        switch element {
        case .html, .head, .body, .frameset: return false
        case .table: if isBetweenCells { closeOne(.table, in: .table) }
        case .li: closeItem { $0 == .li }
        case .dd, .dt: closeItem { $0 == .dd || $0 == .dt }
        case .h1, .h2, .h3, .h4, .h5, .h6: if last?.isHeading == true { elements.removeLast() }
        case .button, .a, .nobr: end(element)
        case .input: closeOne(.select, in: .all)
        case .select:
            guard let index = index(in: .all, { $0 == .select }) else { return true }
            close(index)
            return false
        case .hr, .optgroup, .option:
            if index(in: .all, { $0 == .select }) != nil {
                closeImplied(except: element == .option ? .optgroup : nil)
            } else if element != .hr, last == .option {
                elements.removeLast()
            }
        default: break
        }
        return true
    }

    /// Closes the parts of a table that another part closes (HTML §13.2.6.4.9 to 15).
    private mutating func preparePart(_ level: Int) -> Bool {
        while let part, let open = elements[part].level {
            guard open >= level else {
                elements.removeLast(elements.count - 1 - part)
                return true
            }
            close(part)
        }
        // Outside a table, only a template may contain a part of one.
        return part != nil
    }

    /// Closes the list item that another one closes.
    private mutating func closeItem(_ matches: (HTMLElement) -> Bool) {
        if let index = index(in: .item, matches) { close(index) }
        closeOne(.p, in: .button)
    }

    /// Closes the drawing or formula in which an HTML element begins.
    mutating func leaveForeign() {
        while hasForeignContent { elements.removeLast() }
    }

    // MARK: - End tags

    mutating func end(_ tag: HTMLTagName) {
        if let element = tag.element {
            end(element)
        } else if let index = index(in: .special, matches: { $0.tag.equals(tag, in: page) }) {
            close(index)
        }
    }

    /// Closes an element of a drawing or formula (HTML §13.2.6.5).
    ///
    /// - Returns: false if the tag may end an HTML element.
    mutating func endForeign(_ tag: HTMLTagName) -> Bool {
        guard isForeign else { return false }
        if tag.element == .p || tag.element == .br {
            leaveForeign()
            return false
        }
        for index in searched {
            guard elements[index].context.isForeign else { return false }
            guard !elements[index].tag.equals(tag, in: page) else {
                close(index)
                return true
            }
        }
        return true
    }

    private mutating func end(_ element: HTMLElement) {
        switch element {
        case .template: closeOne(.template, in: .page)
        case .p: closeOne(.p, in: .button)
        case .li: closeOne(.li, in: .list)
        case .h1, .h2, .h3, .h4, .h5, .h6: if let index = index(in: .all, { $0.isHeading }) { close(index) }
        case .table, .caption: closeOne(element, in: .table)
        case .colgroup, .tbody, .thead, .tfoot, .tr, .td, .th: endPart(element)
        case _ where element.isFormatting: endFormatting(element)
        case _ where element.isSpecial || element == .dialog: closeOne(element, in: .all)
        default: closeOne(element, in: .special)
        }
    }

    /// Closes the parts of a table that the end tag of a part closes.
    private mutating func endPart(_ element: HTMLElement) {
        guard let level = element.level, let innermost = part.flatMap({ elements[$0].html }) else { return }
        if innermost != element {
            // A row's end tag ends the cell in it, but not a caption.
            guard level < Self.cell, element != .colgroup, innermost != .caption, innermost != .colgroup else { return }
        }
        while let part, let open = elements[part].level, open >= level { close(part) }
    }

    /// Closes an element such as `b`. If a block began in it, the block remains open (HTML §13.2.6.4.7, the adoption agency).
    private mutating func endFormatting(_ element: HTMLElement) {
        guard let index = index(in: .all, { $0 == element }) else { return }
        guard let block = elements[index...].lastIndex(where: { $0.isSpecial }) else { return close(index) }
        elements.removeLast(elements.count - 1 - block)
        elements.remove(at: index)
    }

    /// Ends a form. Elements that began in it and are open remain within it.
    mutating func endForm(_ form: Int) {
        guard let index = index(in: .all, { $0 == .form }), elements[index].context.form == form else { return }
        closeImplied(except: nil)
        elements.remove(at: index)
    }

    // MARK: - The innermost elements

    private enum Scope {
        case page, all, button, list, table
        /// Up to the innermost special element, for the end tags of other elements, and for list items.
        case special, item
    }

    private var searched: ReversedCollection<Range<Int>> {
        (max(0, elements.count - Self.mostSearched)..<elements.count).reversed()
    }

    /// The innermost HTML element.
    private var last: HTMLElement? { elements.last?.html }

    /// The innermost open part of a table, table, or template.
    private var part: Int? {
        searched.first { elements[$0].level != nil || elements[$0].html == .template }
    }

    private static let cell = 3

    private func index(in scope: Scope, _ matches: (HTMLElement) -> Bool) -> Int? {
        index(in: scope) { $0.html.map(matches) ?? false }
    }

    /// The index of the innermost element that matches; nil if an element within it ends the scope (HTML §13.2.4.2).
    private func index(in scope: Scope, matches: (HTMLOpenElement) -> Bool) -> Int? {
        for index in searched {
            if matches(elements[index]) { return index }
            if ends(scope, elements[index]) { return nil }
        }
        return nil
    }

    private func ends(_ scope: Scope, _ open: HTMLOpenElement) -> Bool {
        guard let element = open.html else { return open.holdsHTML && scope != .page && scope != .table }
        switch element {
        case .table, .template: return scope != .page
        case .applet, .caption, .td, .th, .marquee, .object, .select: return scope != .page && scope != .table
        case .button: return scope == .button || scope == .special || scope == .item
        case .ol, .ul: return scope == .list || scope == .special || scope == .item
        case .address, .div, .p: return scope == .special
        default: return (scope == .special || scope == .item) && element.isSpecial
        }
    }

    private mutating func closeOne(_ element: HTMLElement, in scope: Scope) {
        if let index = index(in: scope, { $0 == element }) { close(index) }
    }

    private mutating func close(_ index: Int) {
        elements.removeLast(elements.count - index)
    }

    /// Closes the innermost elements that need no end tag (HTML §13.2.6.3).
    private mutating func closeImplied(except exception: HTMLElement?) {
        while let last, last != exception, last.isImplied { elements.removeLast() }
    }
}

/// What an element or a text is within. An element passes it on to its content.
struct HTMLContext {
    /// The number of the innermost form; nil outside all forms.
    var form: Int?
    /// Whether the innermost element is one of a drawing or formula, and whether that is a formula.
    var isForeign = false
    var isMath = false
    var isTemplate = false
    var isSelect = false
    /// Whether an option here isn't one of the select's, because it is in another option or in a `datalist`.
    var isOption = false
    var isDisabled = false
    var isGroupDisabled = false
    var isHidden = false
    var isMessage = false
}

/// An element whose end hasn't been read.
private struct HTMLOpenElement {
    let tag: HTMLTagName
    /// What its content is within.
    var context: HTMLContext
    let isDisabledOutside: Bool
    /// Whether it is an element of a drawing or formula that contains HTML (HTML §13.2.4.2, an integration point).
    let holdsHTML: Bool
    /// Whether it is a `fieldset` without a `legend` so far.
    var isBeforeLegend = false

    /// The element; nil if it has no meaning here, or isn't an HTML element.
    var html: HTMLElement? { context.isForeign ? nil : tag.element }

    /// How deep in a table this part is; nil for another element. A part that can contain no other part counts as deep as a cell.
    var level: Int? { html == .caption || html == .colgroup ? 3 : html?.level }

    var isSpecial: Bool { html?.isSpecial ?? holdsHTML }
}
