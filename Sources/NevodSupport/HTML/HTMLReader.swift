/// Reads a page (HTML §13.2.6) into the parts of an ``HTMLPage``, without building a tree of elements.
struct HTMLReader {
    private let page: UnsafeRawBufferPointer
    private var tokens: HTMLTokenizer
    private(set) var forms = HTMLForms()
    private(set) var alerts: HTMLAlerts
    private(set) var metas: [HTMLMeta] = []
    private(set) var links: [String] = []
    private(set) var title: String?
    private(set) var baseHref: String?

    private var select: HTMLSelect?
    /// The element whose text is next.
    private var textElement: HTMLElement?
    private var textarea: HTMLTextarea?
    private var fieldsets = HTMLFieldsets()
    /// The numbers of open templates and of open lists of proposals. Their fields belong to no form.
    private var templates = 0
    private var datalists = 0
    /// The open drawing or formula. Its elements may close themselves, and its title isn't the page's.
    private var foreign: HTMLOpenElement?

    init(_ page: UnsafeRawBufferPointer) {
        self.page = page
        tokens = HTMLTokenizer(page)
        alerts = HTMLAlerts(page)
    }

    mutating func read() {
        while let token = tokens.next() {
            switch token {
            case .text(let range, let hasReferences): text(range, hasReferences)
            case .start(let tag): start(tag)
            case .end(let tag): end(tag)
            }
        }
        finishTextarea()
        finishSelect()
        alerts.finish()
    }

    private mutating func text(_ range: Range<Int>, _ hasReferences: Bool) {
        defer { textElement = nil }
        switch textElement {
        case .textarea: textarea?.text = range
        case .title where title == nil && foreign == nil && templates == 0:
            var message = HTMLMessage()
            message.add(page, range, .elementText)
            title = message.text
        case nil:
            if select != nil {
                select?.add(page, range)
            } else if foreign == nil {
                alerts.add(range, hasReferences: hasReferences)
            }
        default: break
        }
    }

    private mutating func start(_ tag: HTMLTagName) {
        textElement = nil
        guard select == nil || isStartAfterSelect(tag.element) else { return }
        let attributes = tokens.attributes
        if foreign?.open(tag, page) == true || tag.element?.isBlock == true { foreign = nil }
        let endsItself = foreign != nil && attributes.isSelfClosing
        if let element = tag.element, element.isText, !endsItself { readText(of: element) }
        if tag.element == .template { templates += 1 }
        if !endsItself, tag.element != .select { alerts.start(tag, attributes) }
        guard templates == 0 else { return }
        switch tag.element {
        case .form: openForm(attributes)
        case .input: addInput(attributes)
        case .button: addButton(attributes)
        case .textarea:
            textarea = HTMLTextarea(
                name: name, form: form, isDisabled: isDisabled, autocomplete: autocomplete)
        case .select: openSelect(attributes)
        case .fieldset: fieldsets.open(isDisabled: attributes.has(.disabled))
        case .legend: fieldsets.openLegend()
        case .datalist: datalists += 1
        case .meta: addMeta(attributes)
        case .a:
            if links.count < HTMLPage.mostLinks, !isTooLong(.href), let address = value(.href) {
                links.append(address.trimmedHTMLSpace)
            }
        case .base: baseHref = baseHref ?? value(.href)?.trimmedHTMLSpace
        case .svg, .math: if foreign == nil, !attributes.isSelfClosing { foreign = HTMLOpenElement(tag) }
        default: break
        }
    }

    private mutating func end(_ tag: HTMLTagName) {
        textElement = nil
        if select != nil {
            switch tag.element {
            case .select: finishSelect()
            case .option: select?.closeOption()
            case .optgroup:
                select?.closeOption()
                select?.isGroupDisabled = false
            default: return
            }
        }
        if foreign?.close(tag, page) == true { foreign = nil }
        if tag.element != .select { alerts.end(tag) }
        switch tag.element {
        case .template: templates = max(0, templates - 1)
        case .datalist: datalists = max(0, datalists - 1)
        case .textarea: finishTextarea()
        case .form: if templates == 0 { forms.close() }
        case .fieldset: fieldsets.close()
        case .legend: fieldsets.closeLegend()
        default: break
        }
    }

    private mutating func readText(of element: HTMLElement) {
        tokens.readText(of: element)
        textElement = element
    }

    // MARK: - Attributes of the start tag that was read last

    /// The value of an attribute; nil if it is missing or too long.
    private func value(_ attribute: HTMLAttribute) -> String? {
        guard let range = tokens.attributes[attribute], range.count <= HTMLField.mostBytes else { return nil }
        return HTMLText.decoded(page, range, .attribute)
    }

    private func isTooLong(_ attribute: HTMLAttribute) -> Bool {
        tokens.attributes[attribute].map { $0.count > HTMLField.mostBytes } ?? false
    }

    /// The name of a field, perhaps empty; nil if it is too long.
    private var name: String? { isTooLong(.name) ? nil : value(.name) ?? "" }
    private var isDisabled: Bool { tokens.attributes.has(.disabled) || fieldsets.isDisabled || datalists > 0 }
    private var form: String? { tokens.attributes.has(.form) ? value(.form) ?? "" : nil }
    private var autocomplete: String { value(.autocomplete)?.trimmedHTMLSpace.lowercasedASCII ?? "" }

    // MARK: - Elements

    private mutating func openForm(_ attributes: HTMLAttributes) {
        guard !forms.isOpen else { return }
        forms.open(
            HTMLForm(
                action: value(.action)?.trimmedHTMLSpace ?? "", method: value(.method)?.lowercasedASCII ?? "",
                enctype: value(.enctype)?.lowercasedASCII ?? "", id: value(.id) ?? ""))
        if isTooLong(.action) { forms.cut() }
    }

    private mutating func addInput(_ attributes: HTMLAttributes) {
        let type = HTMLField.inputType(value(.type)?.lowercasedASCII ?? "")
        var text = value(.value) ?? (type == "checkbox" || type == "radio" ? "on" : "")
        switch type {
        case "text", "search", "tel", "password": text = text.withoutLineEnds
        case "email", "url": text = text.withoutLineEnds.trimmedHTMLSpace
        default: break
        }
        add(type: type, text, isChecked: attributes.has(.checked))
    }

    private mutating func addButton(_ attributes: HTMLAttributes) {
        let type = value(.type)?.lowercasedASCII ?? ""
        add(type: type == "reset" || type == "button" ? type : "submit", value(.value) ?? "")
    }

    private mutating func add(type: String, _ text: String, isChecked: Bool = false) {
        guard let name, !isTooLong(.value) else { return forms.add(nil, form: form) }
        forms.add(
            HTMLField(
                name: name, value: text, type: type, isChecked: isChecked, isDisabled: isDisabled, autocomplete: autocomplete),
            form: form)
    }

    private mutating func addMeta(_ attributes: HTMLAttributes) {
        guard metas.count < HTMLPage.mostMetas, let name = value(.name), !isTooLong(.content) else { return }
        metas.append(HTMLMeta(name: name, content: value(.content) ?? ""))
    }

    private mutating func openSelect(_ attributes: HTMLAttributes) {
        select = HTMLSelect(
            name: name, autocomplete: autocomplete, form: form, isDisabled: isDisabled,
            isMultiple: attributes.has(.multiple), size: value(.size) ?? "")
    }

    /// Handles a start tag within a `select`. Few of them have a meaning there (HTML §13.2.6.4.16).
    ///
    /// - Returns: whether the tag has ended the `select`, and must be read as a tag after it.
    private mutating func isStartAfterSelect(_ element: HTMLElement?) -> Bool {
        switch element {
        case .option:
            let attributes = tokens.attributes
            let value = attributes.has(.value) ? value(.value) : nil
            let isTooLong = isTooLong(.value)
            select?.openOption(
                value: value, isTooLong: isTooLong, isSelected: attributes.has(.selected), isDisabled: attributes.has(.disabled))
        case .optgroup:
            select?.closeOption()
            select?.isGroupDisabled = tokens.attributes.has(.disabled)
        case .select: finishSelect()
        case .script: readText(of: .script)
        case .input, .textarea:
            finishSelect()
            return true
        default: break
        }
        return false
    }

    private mutating func finishSelect() {
        guard var select else { return }
        self.select = nil
        for field in select.fields() { forms.add(field, form: select.form) }
    }

    private mutating func finishTextarea() {
        guard let textarea else { return }
        self.textarea = nil
        forms.add(textarea.field(page), form: textarea.form)
    }
}

/// A `textarea` whose text is being read.
private struct HTMLTextarea {
    /// Nil if the name is too long.
    let name: String?
    let form: String?
    let isDisabled: Bool
    let autocomplete: String
    var text: Range<Int>?

    /// Nil if the name or the text is too long.
    func field(_ page: UnsafeRawBufferPointer) -> HTMLField? {
        guard text?.count ?? 0 <= HTMLField.mostBytes, let name else { return nil }
        var value = text.map { HTMLText.decoded(page, $0, .elementText) } ?? ""
        // A line feed directly after the start tag isn't part of the text (HTML §13.1.2.5).
        if value.utf8.first == UInt8(ascii: "\n") { value = String(value.unicodeScalars.dropFirst()) }
        return HTMLField(
            name: name, value: value, type: "textarea", isChecked: false, isDisabled: isDisabled, autocomplete: autocomplete)
    }
}

/// The open `fieldset` elements. A disabled one disables the fields inside it, except the fields in its first `legend` (HTML
/// §4.10.15).
private struct HTMLFieldsets {
    private enum Legend {
        case before, within, behind
    }

    private var depth = 0
    /// The depth of the outermost disabled one.
    private var disabled: Int?
    private var legend = Legend.before

    var isDisabled: Bool { disabled != nil && legend != .within }

    mutating func open(isDisabled: Bool) {
        depth += 1
        guard isDisabled, disabled == nil else { return }
        (disabled, legend) = (depth, .before)
    }

    mutating func close() {
        guard depth > 0 else { return }
        if disabled == depth { disabled = nil }
        depth -= 1
    }

    mutating func openLegend() {
        if disabled == depth, legend == .before { legend = .within }
    }

    mutating func closeLegend() {
        if disabled == depth, legend == .within { legend = .behind }
    }
}

extension String {
    fileprivate var withoutLineEnds: String {
        guard utf8.contains(where: { $0 == 0x0A || $0 == 0x0D }) else { return self }
        return String(decoding: utf8.filter { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
    }
}
