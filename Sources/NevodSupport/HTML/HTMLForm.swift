/// A form of a page (HTML §4.10.3), or all fields of a page that belong to no form.
package struct HTMLForm: Sendable {
    /// The address that the form is sent to, as written: relative to the page's base. Empty for the page's own address.
    package let action: String
    /// The method in upper case: `GET` unless the form says otherwise.
    package let method: String
    /// The media type: `application/x-www-form-urlencoded` unless the form says otherwise.
    package let enctype: String
    package let id: String
    /// False if these are the fields that belong to no form.
    package let isForm: Bool
    /// The fields in the page's order, at most ``HTMLForm/mostFields``.
    package internal(set) var fields: [HTMLField] = []
    /// Whether fields are missing here: fields above the limit, and fields whose name or value is longer than
    /// ``HTMLField/mostBytes``.
    package internal(set) var isCut = false

    /// The largest number of fields of a form that are read.
    package static let mostFields = 512

    /// Creates the list of the fields that belong to no form.
    init() {
        (action, method, enctype, id, isForm) = ("", "GET", Self.urlEncoded, "", false)
    }

    init(action: String, method: String, enctype: String, id: String) {
        self.action = action
        self.method = Self.method(method)
        self.enctype = ["multipart/form-data", "text/plain"].contains { $0 == enctype } ? enctype : Self.urlEncoded
        self.id = id
        isForm = true
    }

    private static let urlEncoded = "application/x-www-form-urlencoded"

    private static func method(_ text: String) -> String {
        switch text {
        case "post": "POST"
        case "dialog": "DIALOG"
        default: "GET"
        }
    }

    /// The first field with that name.
    package func field(named name: String) -> HTMLField? {
        fields.first { $0.name.utf8.elementsEqual(name.utf8) }
    }

    /// The value of the first field with that name and a non-empty value.
    package func value(named name: String) -> String? {
        fields.first { !$0.value.isEmpty && $0.name.utf8.elementsEqual(name.utf8) }?.value
    }

    /// Whether the form has an input of type `password`.
    package var hasPassword: Bool { fields.contains { $0.isPassword } }

    /// The names and values that a browser sends when a person presses the Enter key (HTML §4.10.22.4), without files and images.
    ///
    /// The first submit button is the form's default (HTML §4.10.22.2). A later one may mean something else.
    package var successful: [HTMLEntry] {
        let button = fields.firstIndex { $0.isSubmit }
        return fields.enumerated().compactMap { index, field in
            guard !field.name.isEmpty, field.isSent || index == button && field.type != "image", !field.isDisabled,
                !isUnchecked(field, by: fields[(index + 1)...])
            else { return nil }
            return HTMLEntry(field)
        }
    }

    /// Whether a later field is the checked radio button of the field's group (HTML §4.10.5.1.16).
    private func isUnchecked(_ field: HTMLField, by later: ArraySlice<HTMLField>) -> Bool {
        field.type == "radio"
            && later.contains { $0.type == "radio" && $0.isChecked && $0.name.utf8.elementsEqual(field.name.utf8) }
    }
}

/// A name and a value that a form sends.
package struct HTMLEntry: Sendable, Equatable {
    package let name: String
    /// The value. Each of its lines ends with CRLF.
    package let value: String

    fileprivate init(_ field: HTMLField) {
        name = field.name.withCRLF
        value = field.type == "hidden" && field.name.isCharset ? "UTF-8" : field.value.withCRLF
    }

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

extension String {
    /// The text with CRLF in place of each line feed, each carriage return, and each pair of the two.
    fileprivate var withCRLF: String {
        guard utf8.contains(where: { $0 == 0x0A || $0 == 0x0D }) else { return self }
        var bytes: [UInt8] = []
        var last: UInt8 = 0
        for byte in utf8 {
            if byte == 0x0A || byte == 0x0D {
                if !(byte == 0x0A && last == 0x0D) { bytes += [0x0D, 0x0A] }
            } else {
                bytes.append(byte)
            }
            last = byte
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether a hidden field of this name holds the form's character encoding (HTML §4.10.22.4).
    fileprivate var isCharset: Bool { utf8.lazy.map { $0.lowercased }.elementsEqual("_charset_".utf8) }
}

/// A control of a form: `input`, `button`, `select` or `textarea`.
package struct HTMLField: Sendable {
    package let name: String
    /// The value. If a checkbox or radio button has none, it is `on`; a `select` has the selected option's value.
    package internal(set) var value: String
    /// The type in lower case. For an `input`, its own type, or `text`; for a `button`, `submit`, `reset` or `button`; otherwise
    /// `select` or `textarea`.
    package let type: String
    /// Whether a checkbox or radio button is checked, or an option of a `select` is selected.
    package let isChecked: Bool
    /// Whether the field, or a `fieldset` or option around it, is disabled.
    package let isDisabled: Bool
    /// The purpose of the field (HTML §4.10.18.7) in lower case, such as `username`, `current-password` or `one-time-code`; may
    /// be empty.
    package let autocomplete: String

    /// The largest size of a name or value, in bytes.
    package static let mostBytes = 64 << 10

    /// The types of an `input` that HTML defines (HTML §4.10.5).
    private static let inputTypes = [
        "hidden", "text", "search", "tel", "url", "email", "password", "date", "month", "week", "time", "datetime-local",
        "number", "range", "color", "checkbox", "radio", "file", "submit", "image", "reset", "button",
    ]

    /// The type of an `input` with this attribute value in lower case; `text` if the type is unknown.
    static func inputType(_ value: String) -> String {
        inputTypes.contains { $0.utf8.elementsEqual(value.utf8) } ? value : "text"
    }

    /// Whether the field submits its form.
    package var isSubmit: Bool { type == "submit" || type == "image" }

    /// Whether the field is an input of type `password`.
    package var isPassword: Bool { type == "password" }

    /// Whether the field is sent with its form, judged by its type and state.
    var isSent: Bool {
        switch type {
        case "checkbox", "radio", "select": isChecked
        case "submit", "image", "reset", "button", "file": false
        default: true
        }
    }
}
