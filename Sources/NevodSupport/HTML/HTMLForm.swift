/// A form of a page (HTML §4.10.3), or the fields of a page that belong to none.
package struct HTMLForm: Sendable {
    /// The address that the form is sent to, as it is written: relative to the page's base. Empty if it is the page's own.
    package let action: String
    /// The method in upper case: `GET` unless the form says otherwise.
    package let method: String
    /// The media type: `application/x-www-form-urlencoded` unless the form says otherwise.
    package let enctype: String
    package let id: String
    /// False for the fields that belong to no form.
    package let isForm: Bool
    /// The fields in the page's order, at most ``HTMLForm/mostFields``.
    package internal(set) var fields: [HTMLField] = []
    /// Whether fields are missing here: those above the bound, and those whose name or value is above ``HTMLField/mostBytes``.
    package internal(set) var isCut = false

    /// The most fields of a form that are read.
    package static let mostFields = 512

    /// The fields that belong to no form.
    init() {
        (action, method, enctype, id, isForm) = ("", "GET", Self.urlEncoded, "", false)
    }

    init(action: String, method: String, enctype: String, id: String) {
        self.action = action
        self.method = Self.method(method)
        self.enctype = ["multipart/form-data", "text/plain"].contains(enctype) ? enctype : Self.urlEncoded
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

    /// The first field of that name.
    package func field(named name: String) -> HTMLField? {
        fields.first { $0.name.utf8.elementsEqual(name.utf8) }
    }

    /// The value of the first field of that name that has one.
    package func value(named name: String) -> String? {
        fields.first { !$0.value.isEmpty && $0.name.utf8.elementsEqual(name.utf8) }?.value
    }

    /// Whether the form has an input of type password.
    package var hasPassword: Bool { fields.contains { $0.isPassword } }

    /// The names and values that a browser sends when a person presses the enter key (HTML §4.10.22.4), without files and images.
    ///
    /// Of the submit buttons, the first one is the form's default (HTML §4.10.22.2): a later one may mean something else.
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
    /// The value, its lines ended by CRLF.
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
    /// The text with each line feed, carriage return or pair of both as CRLF.
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
    fileprivate var isCharset: Bool { utf8.lazy.map { $0.asciiLowercased }.elementsEqual("_charset_".utf8) }
}
