/// The forms of a page while it is read.
struct HTMLForms {
    /// The form that a field belongs to.
    private enum Owner {
        case form(Int)
        case none
        /// The id of a form, which may come later (HTML §4.10.18.3).
        case named(String)
    }

    private var forms: [HTMLForm] = []
    private var fields: [(owner: Owner, field: HTMLField)] = []
    /// The number of fields of each form so far. The last number counts the fields outside all forms, or in a form given by its
    /// id.
    private var counts = [Int](repeating: 0, count: HTMLPage.mostForms + 1)
    private var current: Int?
    private(set) var hasPassword = false
    private(set) var isCut = false
    /// Whether the current form is above the limit.
    private var isBeyond = false
    private var cutForms: Set<Int> = []

    /// Whether a form is open. No other form begins inside it (HTML §13.2.6.4.7).
    var isOpen: Bool { current != nil || isBeyond }

    mutating func open(_ form: HTMLForm) {
        guard forms.count < HTMLPage.mostForms else {
            (isBeyond, isCut) = (true, true)
            return
        }
        current = forms.count
        forms.append(form)
    }

    mutating func close() {
        (current, isBeyond) = (nil, false)
    }

    /// Notes that the address of the form that was opened last is too long.
    mutating func cut() {
        isCut = true
        if let current { cutForms.insert(current) }
    }

    /// Adds a field.
    ///
    /// - Parameters:
    ///   - field: nil for a field whose name or value is too long.
    ///   - form: the field's `form` attribute.
    mutating func add(_ field: HTMLField?, form: String?) {
        if field?.isPassword == true { hasPassword = true }
        guard form != nil || !isBeyond else { return }
        let index = form == nil ? current ?? HTMLPage.mostForms : HTMLPage.mostForms
        guard let field, counts[index] < HTMLForm.mostFields else {
            isCut = true
            cutForms.insert(index)
            return
        }
        counts[index] += 1
        fields.append((form.map(Owner.named) ?? current.map(Owner.form) ?? .none, field))
    }

    /// The forms with their fields, followed by the fields that belong to no form.
    var list: [HTMLForm] {
        var list = forms
        var others = HTMLForm()
        for (owner, field) in fields {
            let index: Int? =
                switch owner {
                case .form(let index): index
                case .none: nil
                case .named(let id): id.isEmpty ? nil : forms.firstIndex { $0.id.utf8.elementsEqual(id.utf8) }
                }
            if let index {
                list[index].add(field)
            } else {
                others.add(field)
            }
        }
        for index in cutForms {
            if index < list.count { list[index].isCut = true } else { others.isCut = true }
        }
        return others.fields.isEmpty ? list : list + [others]
    }
}

extension HTMLForm {
    fileprivate mutating func add(_ field: HTMLField) {
        guard fields.count < Self.mostFields else {
            isCut = true
            return
        }
        fields.append(field)
    }
}

/// A `select` element while its options are read (HTML §4.10.7).
struct HTMLSelect {
    private struct Option {
        var value: String?
        var text = ""
        let isSelected, isDisabled: Bool
        var isTooLong = false
    }

    /// Nil if the name is too long.
    private let name: String?
    private let autocomplete: String
    let form: String?
    private let isDisabled, isMultiple: Bool
    /// Whether the first option is selected if the page selects none, as in a drop-down list.
    private let selectsFirst: Bool
    private var option: Option?
    /// The first option that isn't disabled, and the options that the page selects.
    private var first: Option?
    private var selected: [Option] = []
    var isGroupDisabled = false

    init(name: String?, autocomplete: String, form: String?, isDisabled: Bool, isMultiple: Bool, size: String) {
        (self.name, self.autocomplete, self.form) = (name, autocomplete, form)
        (self.isDisabled, self.isMultiple) = (isDisabled, isMultiple)
        selectsFirst = !isMultiple && (Int(size) ?? 0) <= 1
    }

    mutating func openOption(value: String?, isTooLong: Bool, isSelected: Bool, isDisabled: Bool) {
        closeOption()
        option = Option(value: value, isSelected: isSelected, isDisabled: isDisabled || isGroupDisabled, isTooLong: isTooLong)
    }

    mutating func closeOption() {
        guard let option else { return }
        self.option = nil
        if first == nil, !option.isDisabled { first = option }
        guard option.isSelected else { return }
        // If only one choice is allowed, the last of several selected options counts.
        if !isMultiple { selected.removeAll() }
        if selected.count <= HTMLForm.mostFields { selected.append(option) }
    }

    /// Adds text to the open option.
    mutating func add(_ page: UnsafeRawBufferPointer, _ range: Range<Int>) {
        guard option?.value == nil, let count = option?.text.utf8.count else { return }
        if count + range.count <= HTMLField.mostBytes {
            option?.text += HTMLText.decoded(page, range, .content)
        } else {
            option?.isTooLong = true
        }
    }

    /// The fields: a single one, or one for each selected option. Nil for a field whose value is too long.
    mutating func fields() -> [HTMLField?] {
        closeOption()
        let chosen = selected.isEmpty && selectsFirst ? first.map { [$0] } ?? [] : selected
        guard !chosen.isEmpty else { return [field(nil)] }
        return chosen.map { $0.isTooLong ? nil : field($0) }
    }

    private func field(_ option: Option?) -> HTMLField? {
        guard let name else { return nil }
        return HTMLField(
            name: name, value: option.map { $0.value ?? $0.text.collapsed } ?? "", type: "select", isChecked: option != nil,
            isDisabled: isDisabled || option?.isDisabled == true, autocomplete: autocomplete)
    }
}
