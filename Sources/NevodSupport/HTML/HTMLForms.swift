/// The forms of a page while it is read.
struct HTMLForms {
    /// The form that a field belongs to. A number above the limit is a form that isn't read.
    enum Owner {
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
    /// The form that the next `</form>` ends (HTML §13.2.4.4). Until then, no other form begins.
    private(set) var current: Int?
    private(set) var hasPassword = false
    private(set) var isCut = false
    private var cutForms: Set<Int> = []

    /// The number of fields so far.
    var count: Int { fields.count }

    /// Begins a form.
    ///
    /// - Parameter isCut: whether its address is too long.
    mutating func open(_ form: HTMLForm, isCut: Bool) {
        current = forms.count
        guard forms.count < HTMLPage.mostForms else {
            self.isCut = true
            return
        }
        if isCut { cut(forms.count) }
        forms.append(form)
    }

    mutating func close() {
        current = nil
    }

    private mutating func cut(_ form: Int) {
        isCut = true
        cutForms.insert(form)
    }

    /// The form of the next field (HTML §4.10.18.3).
    ///
    /// - Parameters:
    ///   - name: the field's `form` attribute.
    ///   - around: the innermost form around the field.
    func owner(named name: String?, around: Int?) -> Owner {
        name.map(Owner.named) ?? (current ?? around).map(Owner.form) ?? .none
    }

    /// Adds a field.
    ///
    /// - Parameters:
    ///   - field: nil for a field whose name or value is too long.
    ///   - place: the number of fields before it.
    mutating func add(_ field: HTMLField?, _ owner: Owner, at place: Int? = nil) {
        if field?.isPassword == true { hasPassword = true }
        var index = HTMLPage.mostForms
        if case .form(let form) = owner {
            guard form < forms.count else { return }
            index = form
        }
        guard let field, counts[index] < HTMLForm.mostFields else { return cut(index) }
        counts[index] += 1
        fields.insert((owner, field), at: place ?? fields.count)
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
    let owner: HTMLForms.Owner
    /// The number of fields before it.
    let place: Int
    private let isDisabled, isMultiple: Bool
    /// Whether the first option is selected if the page selects none, as in a drop-down list.
    private let selectsFirst: Bool
    private var option: Option?
    /// The first option that isn't disabled, and the options that the page selects.
    private var first: Option?
    private var selected: [Option] = []

    init(
        name: String?, autocomplete: String, owner: HTMLForms.Owner, place: Int, isDisabled: Bool, isMultiple: Bool, size: String
    ) {
        (self.name, self.autocomplete, self.owner, self.place) = (name, autocomplete, owner, place)
        (self.isDisabled, self.isMultiple) = (isDisabled, isMultiple)
        selectsFirst = !isMultiple && (Int(size) ?? 0) <= 1
    }

    mutating func openOption(value: String?, isTooLong: Bool, isSelected: Bool, isDisabled: Bool) {
        closeOption()
        option = Option(value: value, isSelected: isSelected, isDisabled: isDisabled, isTooLong: isTooLong)
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
    mutating func add(_ page: UnsafeRawBufferPointer, _ range: Range<Int>, _ place: HTMLText.Place) {
        guard option?.value == nil, let count = option?.text.utf8.count else { return }
        if count + range.count <= HTMLField.mostBytes {
            option?.text += HTMLText.decoded(page, range, place)
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
