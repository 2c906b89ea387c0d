/// A control of a form: `input`, `button`, `select` or `textarea`.
package struct HTMLField: Sendable {
    package let name: String
    /// The value. Of a checkbox or radio button without one `on`; of a `select` that of the selected option.
    package internal(set) var value: String
    /// The type in lower case: of an `input` its own, or `text`; of a `button` `submit`, `reset` or `button`; `select`; `textarea`.
    package let type: String
    /// Whether a checkbox or radio button is checked, or an option of a `select` is selected.
    package let isChecked: Bool
    /// Whether the field, or a `fieldset` or option around it, is disabled.
    package let isDisabled: Bool
    /// The purpose of the field (HTML §4.10.18.7) in lower case, such as `username`, `current-password` or `one-time-code`; or empty.
    package let autocomplete: String

    /// The most bytes of a name or value.
    package static let mostBytes = 64 << 10

    /// The types of an `input` that HTML defines (HTML §4.10.5).
    private static let inputTypes = [
        "hidden", "text", "search", "tel", "url", "email", "password", "date", "month", "week", "time", "datetime-local",
        "number", "range", "color", "checkbox", "radio", "file", "submit", "image", "reset", "button",
    ]

    /// The type of an `input` whose attribute has this value in lower case: an unknown one is `text`.
    static func inputType(_ value: String) -> String {
        inputTypes.contains { $0.utf8.elementsEqual(value.utf8) } ? value : "text"
    }

    /// Whether the field submits its form.
    package var isSubmit: Bool { type == "submit" || type == "image" }

    /// Whether the field is an input of type password.
    package var isPassword: Bool { type == "password" }

    /// Whether the field is sent with its form, as far as its type and state say.
    var isSent: Bool {
        switch type {
        case "checkbox", "radio", "select": isChecked
        case "submit", "image", "reset", "button", "file": false
        default: true
        }
    }
}

/// A `meta` element that has a name.
package struct HTMLMeta: Sendable {
    package let name: String
    package let content: String
}
