internal import NevodPluginABI
internal import NevodSupport

/// A setting, as its scheme declares it.
public struct SchemeSetting: Sendable, Hashable {
    /// The form of a value. The host checks it, so that schemes need not parse user input.
    public enum Kind: Int32, Sendable {
        /// Any bytes without NUL.
        case text = 1
        /// A signed decimal number of 64 bits.
        case integer
        /// `true` or `false`.
        case boolean
        /// One of ``SchemeSetting/choices``.
        case choice
        /// An absolute `http` or `https` URL, or a relative one if ``SchemeSetting/mayBeRelative``.
        case url

        /// A name for people, in a table of settings.
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

    /// The name used in ``SchemeSettings``, and on the command line after `--set`.
    public let name: String
    /// The form of its values.
    public let kind: Kind
    /// Whether an instance can't be made without a value for this setting.
    public let isRequired: Bool
    /// Whether its value is secret: never taken from a command line, never shown.
    public let isSecret: Bool
    /// Whether it may have several values; the scheme receives them in order.
    public let isRepeatable: Bool
    /// Whether it is the URL of an issuer, whose metadata may name further origins that a flow may send to.
    public let namesIssuer: Bool
    /// Whether it is a URL that may be relative. Its base is the first value of the scheme's first URL setting that must be
    /// absolute.
    public let mayBeRelative: Bool
    /// The values of a ``Kind/choice``; empty for the other kinds.
    public let choices: [String]
    /// The value that the scheme receives if none is given; nil if there is no default.
    public let defaultValue: String?
    /// One line of help for people; may be empty.
    public let help: String

    init(name: String, kind: Kind, flags: UInt32, choices: [String], defaultValue: String, help: String) {
        self.name = name
        self.kind = kind
        isRequired = flags & UInt32(NEVOD_SETTING_REQUIRED) != 0
        isSecret = flags & UInt32(NEVOD_SETTING_SECRET) != 0
        isRepeatable = flags & UInt32(NEVOD_SETTING_REPEATABLE) != 0
        namesIssuer = kind == .url && flags & UInt32(NEVOD_SETTING_ISSUER) != 0
        mayBeRelative = kind == .url && flags & UInt32(NEVOD_SETTING_RELATIVE) != 0
        self.choices = choices
        self.defaultValue = defaultValue.isEmpty ? nil : defaultValue
        self.help = help
    }

    /// Returns why a text is not a valid value, as the rest of a sentence that begins with the setting's name; nil if it is
    /// valid.
    func problem(with text: String) -> String? {
        switch kind {
        case .text: text.utf8.contains(0) ? "contains a NUL byte" : nil
        case .integer: Int64(text) == nil || text.hasPrefix("+") ? "must be an integer\(but(text))" : nil
        case .boolean: text == "true" || text == "false" ? nil : "must be true or false\(but(text))"
        case .choice: choices.contains(text) ? nil : "must be one of \(choices.joined(separator: ", "))\(but(text))"
        case .url: problem(withURL: text)
        }
    }

    private func problem(withURL text: String) -> String? {
        guard (try? HTTPURL(text)) == nil else { return nil }
        if mayBeRelative, let path = URLReference(text).resolved(toPathOf: "https://host"), (try? HTTPURL(path)) != nil {
            return nil
        }
        let rest = text.range(ofASCII: "://").map { text.utf8[$0.upperBound...] } ?? text.utf8[...]
        guard !rest.prefix(while: { !"/?#".utf8.contains($0) }).contains(UInt8(ascii: "@")) else {
            return "must be a URL without userinfo: leave out the part before the @, and give a name and a password in the "
                + "scheme's own settings"
        }
        return "must be an absolute http or https URL\(mayBeRelative ? ", or a path" : "")\(but(text))"
    }

    /// Returns the invalid value as the end of a message; empty for a secret.
    private func but(_ text: String) -> String {
        // A URL may contain a password.
        isSecret || kind == .url && text.contains("@") ? "" : ", not \"\(kind == .url ? ShownURL.text(text) : text)\""
    }
}
