/// The forms of a page while it is read.
struct HTMLForms {
    /// The form that a field belongs to.
    private enum Owner {
        case form(Int)
        case none
        /// A form by its id, which may come later (HTML §4.10.18.3).
        case named(String)
    }

    private var forms: [HTMLForm] = []
    private var fields: [(owner: Owner, field: HTMLField)] = []
    /// The fields of each form so far, the last number that of the fields outside all forms or in a form by its id.
    private var counts = [Int](repeating: 0, count: HTMLPage.mostForms + 1)
    private var current: Int?
    private(set) var hasPassword = false
    private(set) var isCut = false
    /// Whether the current form is one above the bound.
    private var isBeyond = false
    private var cutForms: Set<Int> = []

    /// Whether a form is open, in which another one doesn't begin (HTML §13.2.6.4.7).
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

    /// Notes that the address of the form that was opened last is above the bound.
    mutating func cut() {
        isCut = true
        if let current { cutForms.insert(current) }
    }

    /// Adds a field.
    ///
    /// - Parameters:
    ///   - field: nil for one whose name or value is above the bound.
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

    /// The forms with their fields, then the fields that belong to none.
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
