/// Reads a page (HTML §13.2.6) into the parts of an ``HTMLPage``. It knows the open elements, but builds no tree.
struct HTMLReader {
    private let page: UnsafeRawBufferPointer
    private var tokens: HTMLTokenizer
    private(set) var forms = HTMLForms()
    private(set) var alerts: HTMLAlerts
    private(set) var metas: [HTMLMeta] = []
    private(set) var links: [String] = []
    private(set) var title: String?
    private(set) var baseHref: String?

    private var open: HTMLOpenElements
    private var select: HTMLSelect?
    /// The open element that contains only text.
    private var textElement: HTMLElement?
    private var textarea: HTMLTextarea?

    init(_ page: UnsafeRawBufferPointer) {
        self.page = page
        tokens = HTMLTokenizer(page)
        alerts = HTMLAlerts(page)
        open = HTMLOpenElements(page)
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
        let context = open.context
        switch textElement {
        case .textarea: textarea?.text = range
        case .title:
            var message = HTMLMessage()
            message.add(page, range, .elementText)
            title = message.text
        default: break
        }
        if context.isOption {
            if textElement != .script { select?.add(page, range, hasReferences ? .content : .plain) }
        } else if textElement == nil, context.isMessage, !context.isHidden, select == nil {
            alerts.add(range, hasReferences: hasReferences)
        }
    }

    private mutating func start(_ tag: HTMLTagName) {
        let attributes = tokens.attributes
        defer { tokens.isForeign = open.isForeign }
        if open.hasForeignContent {
            guard tag.element?.endsForeign(attributes) == true else { return startForeign(tag, attributes) }
            open.leaveForeign()
        }
        let isForm = tag.element == .form && !open.context.isTemplate
        if isForm, forms.current != nil { return }
        // A form between the cells of a table has no content (HTML §13.2.6.4.9).
        let isEmpty = isForm && open.isBetweenCells
        let isElement = open.prepare(for: tag.element)
        finishClosed()
        guard isElement else { return }
        var context = open.context
        (context.isForeign, context.isMath) = (tag.element == .svg || tag.element == .math, tag.element == .math)
        alerts.separate(tag.element)
        if !context.isTemplate { read(tag.element, attributes, &context) }
        if let element = tag.element, element.isText {
            tokens.readText(of: element)
            textElement = textElement ?? .style
        } else if !isEmpty, tag.element?.isVoid != true, !(context.isForeign && attributes.isSelfClosing) {
            alerts.start(tag, attributes, &context)
            open.push(tag, context)
        }
    }

    /// Reads an HTML element that isn't in a template.
    ///
    /// - Parameter context: what the element is within; changed to what its content is within.
    private mutating func read(_ element: HTMLElement?, _ attributes: HTMLAttributes, _ context: inout HTMLContext) {
        switch element {
        case .form:
            openForm()
            context.form = forms.current
        case .input: addInput(attributes)
        case .button: addButton()
        case .textarea:
            textarea = HTMLTextarea(name: name, owner: owner, isDisabled: isDisabled, autocomplete: autocomplete)
            textElement = element
        case .select:
            openSelect(attributes)
            (context.isSelect, context.isOption, context.isGroupDisabled) = (true, false, false)
        case .optgroup: context.isGroupDisabled = attributes.has(.disabled)
        case .option:
            if !context.isOption { openOption(attributes, isGroupDisabled: context.isGroupDisabled) }
            context.isOption = true
        case .fieldset: context.isDisabled = context.isDisabled || attributes.has(.disabled)
        case .datalist:
            // An option in a list of proposals, or in another option, isn't one of the select's (HTML §4.10.10).
            if !context.isOption { select?.closeOption() }
            (context.isDisabled, context.isOption) = (true, true)
        case .template: (context.isTemplate, context.isOption) = (true, false)
        case .meta: addMeta()
        case .title:
            // The first title counts, even an empty one.
            textElement = title == nil ? .title : .style
            title = title ?? ""
        case .script: textElement = element
        case .a:
            if links.count < HTMLPage.mostLinks, !isTooLong(.href), let address = value(.href) {
                links.append(address.trimmedHTMLSpace)
            }
        case .base: baseHref = baseHref ?? value(.href)?.trimmedHTMLSpace
        default: break
        }
    }

    /// Reads an element of a drawing or formula.
    private mutating func startForeign(_ tag: HTMLTagName, _ attributes: HTMLAttributes) {
        guard !attributes.isSelfClosing else { return }
        let context = open.context
        var holdsHTML = tag.element?.holdsHTML(isMath: context.isMath) == true
        if tag.element == .annotation, context.isMath, let encoding = value(.encoding)?.lowercasedASCII {
            holdsHTML = encoding == "text/html" || encoding == "application/xhtml+xml"
        }
        open.push(tag, context, holdsHTML: holdsHTML)
    }

    private mutating func end(_ tag: HTMLTagName) {
        // This is the end tag of an element whose text was read. Such an element isn't among the open ones.
        guard textElement == nil else {
            textElement = nil
            return finishTextarea()
        }
        alerts.separate(tag.element)
        if !open.endForeign(tag) {
            if tag.element == .form, !open.context.isTemplate {
                if let form = forms.current {
                    forms.close()
                    open.endForm(form)
                }
            } else {
                open.end(tag)
            }
        }
        finishClosed()
        tokens.isForeign = open.isForeign
    }

    /// Finishes what is no longer open.
    private mutating func finishClosed() {
        let context = open.context
        if !context.isSelect { finishSelect() }
        if !context.isMessage { alerts.finish() }
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
    private var isDisabled: Bool { tokens.attributes.has(.disabled) || open.context.isDisabled }
    private var owner: HTMLForms.Owner {
        forms.owner(named: tokens.attributes.has(.form) ? value(.form) ?? "" : nil, around: open.context.form)
    }
    private var autocomplete: String { value(.autocomplete)?.trimmedHTMLSpace.lowercasedASCII ?? "" }

    // MARK: - Elements

    private mutating func openForm() {
        forms.open(
            HTMLForm(
                action: value(.action)?.trimmedHTMLSpace ?? "", method: value(.method)?.lowercasedASCII ?? "",
                enctype: value(.enctype)?.lowercasedASCII ?? "", id: value(.id) ?? ""),
            isCut: isTooLong(.action))
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

    private mutating func addButton() {
        let type = value(.type)?.lowercasedASCII ?? ""
        add(type: type == "reset" || type == "button" ? type : "submit", value(.value) ?? "")
    }

    private mutating func add(type: String, _ text: String, isChecked: Bool = false) {
        guard let name, !isTooLong(.value) else { return forms.add(nil, owner) }
        forms.add(
            HTMLField(
                name: name, value: text, type: type, isChecked: isChecked, isDisabled: isDisabled, autocomplete: autocomplete),
            owner)
    }

    private mutating func addMeta() {
        guard metas.count < HTMLPage.mostMetas, let name = value(.name), !isTooLong(.content) else { return }
        metas.append(HTMLMeta(name: name, content: value(.content) ?? ""))
    }

    private mutating func openSelect(_ attributes: HTMLAttributes) {
        finishSelect()
        select = HTMLSelect(
            name: name, autocomplete: autocomplete, owner: owner, place: forms.count, isDisabled: isDisabled,
            isMultiple: attributes.has(.multiple), size: value(.size) ?? "")
    }

    private mutating func openOption(_ attributes: HTMLAttributes, isGroupDisabled: Bool) {
        let (text, isTooLong) = (attributes.has(.value) ? value(.value) : nil, isTooLong(.value))
        select?.openOption(
            value: text, isTooLong: isTooLong, isSelected: attributes.has(.selected),
            isDisabled: attributes.has(.disabled) || isGroupDisabled)
    }

    private mutating func finishSelect() {
        guard var select else { return }
        self.select = nil
        for (index, field) in select.fields().enumerated() { forms.add(field, select.owner, at: select.place + index) }
    }

    private mutating func finishTextarea() {
        guard let textarea else { return }
        self.textarea = nil
        forms.add(textarea.field(page), textarea.owner)
    }
}

/// A `textarea` whose text is being read.
private struct HTMLTextarea {
    /// Nil if the name is too long.
    let name: String?
    let owner: HTMLForms.Owner
    let isDisabled: Bool
    let autocomplete: String
    var text: Range<Int>?

    /// Nil if the name or the text is too long.
    func field(_ page: UnsafeRawBufferPointer) -> HTMLField? {
        guard text?.count ?? 0 <= HTMLField.mostBytes, let name else { return nil }
        var value = text.map { HTMLText.decoded(page, $0, .elementText) } ?? ""
        // A line feed directly after the start tag isn't part of the text (HTML §13.1.2.5).
        if value.utf8.first == UInt8(ascii: "\n") { value = String(Substring(value.utf8.dropFirst())) }
        return HTMLField(
            name: name, value: value, type: "textarea", isChecked: false, isDisabled: isDisabled, autocomplete: autocomplete)
    }
}

extension String {
    fileprivate var withoutLineEnds: String {
        guard utf8.contains(where: { $0 == 0x0A || $0 == 0x0D }) else { return self }
        return String(decoding: utf8.filter { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self)
    }
}
