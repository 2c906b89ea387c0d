extension Flag {
    /// The value of a flag: its name in the help, its kind for completions, and when it is read from standard input.
    struct Value: Sendable {
        let placeholder: String
        let kind: ValueKind
        let standardInput: StandardInput?

        private init(_ placeholder: String, _ kind: ValueKind, _ standardInput: StandardInput? = nil) {
            self.placeholder = placeholder
            self.kind = kind
            self.standardInput = standardInput
        }

        static func text(_ placeholder: String, standardInput: StandardInput? = nil) -> Value {
            Value(placeholder, .text, standardInput)
        }

        static func file(_ placeholder: String, standardInput: StandardInput? = nil) -> Value {
            Value(placeholder, .file, standardInput)
        }

        static func content(_ placeholder: String, standardInput: StandardInput? = nil) -> Value {
            Value(placeholder, .content, standardInput)
        }

        static func folder(_ placeholder: String) -> Value { Value(placeholder, .folder) }
        static func plugin(_ placeholder: String) -> Value { Value(placeholder, .plugin) }
        static func method(_ placeholder: String) -> Value { Value(placeholder, .method) }
        static func profile(_ placeholder: String) -> Value { Value(placeholder, .profile) }
        static func language(_ placeholder: String) -> Value { Value(placeholder, .language) }
        static func url(_ placeholder: String) -> Value { Value(placeholder, .url) }

        /// A value that only this program can complete.
        static func asked(_ placeholder: String, _ kind: ValueKind, standardInput: StandardInput? = nil) -> Value {
            Value(placeholder, kind, standardInput)
        }
    }

    /// The kinds of values that shells complete.
    enum ValueKind: String, CaseIterable, Sendable {
        case file, folder, plugin, method, profile, language, url
        /// A text, or `@FILE`.
        case content
        /// Shells ask this program for these: see ``CompletionQuery``.
        case setting, parameter, scheme, account, format
        case text
    }

    /// The form in which a value names standard input.
    enum StandardInput: Sendable {
        /// `-`
        case whole
        /// `NAME=-`
        case assigned
        /// `@-`, `NAME@-`, `NAME=@-` or `NAME=<-`
        case reference

        func isNamed(by value: String) -> Bool {
            switch self {
            case .whole: value == "-"
            case .assigned: value.hasSuffix("=-")
            case .reference: value.hasSuffix("@-") || value.hasSuffix("<-")
            }
        }
    }
}
