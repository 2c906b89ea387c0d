internal import NevodPluginABI

/// A setting, as its scheme declares it.
public struct SchemeSetting: Sendable, Hashable {
    /// What a value has to look like. The host checks it, so that no scheme parses what a user typed.
    public enum Kind: Int32, Sendable {
        /// Any bytes without NUL.
        case text = 1
        /// A decimal number of 64 bits; `true` or `false`; one of ``SchemeSetting/choices``; an absolute `http` or `https` URL.
        case integer, boolean, choice, url

        /// For people, in a table of settings.
        public var name: String {
            switch self {
            case .text: "text"
            case .integer: "integer"
            case .boolean: "true or false"
            case .choice: "choice"
            case .url: "URL"
            }
        }
    }

    /// What ``SchemeSettings`` gives a value by, and the command line after `--set`.
    public let name: String
    /// What its values have to look like.
    public let kind: Kind
    /// No instance is made without a value for it.
    public let isRequired: Bool
    /// Never taken from a command line, never shown.
    public let isSecret: Bool
    /// May have several values, which arrive in their order.
    public let isRepeatable: Bool
    /// Of a URL: an issuer, whose metadata may name further origins that a flow may send to.
    public let namesIssuer: Bool
    /// The values of a ``Kind/choice``; empty for the other kinds.
    public let choices: [String]
    /// What the scheme gets when nothing is given; nil: nothing.
    public let defaultValue: String?
    /// One line for people; may be empty.
    public let help: String

    init(name: String, kind: Kind, flags: UInt32, choices: [String], defaultValue: String, help: String) {
        self.name = name
        self.kind = kind
        isRequired = flags & UInt32(NEVOD_SETTING_REQUIRED) != 0
        isSecret = flags & UInt32(NEVOD_SETTING_SECRET) != 0
        isRepeatable = flags & UInt32(NEVOD_SETTING_REPEATABLE) != 0
        namesIssuer = kind == .url && flags & UInt32(NEVOD_SETTING_ISSUER) != 0
        self.choices = choices
        self.defaultValue = defaultValue.isEmpty ? nil : defaultValue
        self.help = help
    }

    /// Why a text can't be a value of this setting; completes the sentence that begins with its name. Nil if it can.
    func problem(with text: String) -> String? {
        switch kind {
        case .text: text.utf8.contains(0) ? "holds a NUL byte" : nil
        case .integer: Int64(text) == nil || text.hasPrefix("+") ? "must be an integer, not \(shown(text))" : nil
        case .boolean: text == "true" || text == "false" ? nil : "must be true or false, not \(shown(text))"
        case .choice: choices.contains(text) ? nil : "must be one of \(choices.joined(separator: ", ")), not \(shown(text))"
        case .url: (try? HTTPURL(text)) == nil ? "must be an absolute http or https URL, not \(shown(text))" : nil
        }
    }

    private func shown(_ text: String) -> String {
        isSecret ? "what was given" : "\"\(text)\""
    }
}
