/// A `select` element while its options are read (HTML §4.10.7).
struct HTMLSelect {
    private struct Option {
        var value: String?
        var text = ""
        let isSelected, isDisabled: Bool
        var isTooLong = false
    }

    /// Nil for a name above the bound.
    private let name: String?
    private let autocomplete: String
    let form: String?
    private let isDisabled, isMultiple: Bool
    /// Whether an option is selected that the page didn't select: that of a list that drops down.
    private let selectsFirst: Bool
    private var option: Option?
    /// The first option that isn't disabled, and those that the page selects.
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
        // Of several in a list with one choice, the last one.
        if !isMultiple { selected.removeAll() }
        if selected.count <= HTMLForm.mostFields { selected.append(option) }
    }

    /// Adds text of the open option.
    mutating func add(_ page: UnsafeRawBufferPointer, _ range: Range<Int>) {
        guard option?.value == nil, let count = option?.text.utf8.count else { return }
        if count + range.count <= HTMLField.mostBytes {
            option?.text += HTMLText.decoded(page, range, .content)
        } else {
            option?.isTooLong = true
        }
    }

    /// The fields: one, or one for each selected option; nil for one whose value is above the bound.
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

extension String {
    /// The text without white space at its sides, and with one space for each stretch within it.
    var collapsed: String {
        var bytes: [UInt8] = []
        var hasSpace = false
        for byte in utf8 {
            if byte.isHTMLSpace {
                hasSpace = true
            } else {
                if hasSpace, !bytes.isEmpty { bytes.append(0x20) }
                hasSpace = false
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The text without white space at its sides.
    var trimmedHTMLSpace: String {
        let start = utf8.firstIndex { !$0.isHTMLSpace } ?? utf8.endIndex
        let end = utf8.lastIndex { !$0.isHTMLSpace }.map { utf8.index(after: $0) } ?? start
        return String(decoding: utf8[start..<end], as: UTF8.self)
    }

    /// The text with its ASCII letters in lower case.
    var lowercasedASCII: String { String(decoding: utf8.map { $0.asciiLowercased }, as: UTF8.self) }
}
