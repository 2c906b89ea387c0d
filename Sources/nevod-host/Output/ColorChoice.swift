import NevodHost

/// Whether JSON is formatted and coloured: by `--color`, or else by the variables of no-color.org and bixense.com/clicolors.
enum ColorChoice: String, CaseIterable {
    /// At a terminal.
    case auto
    case always
    case never

    init(_ arguments: Arguments) throws(UsageError) {
        guard let word = arguments.value(.color) else {
            self.init { environment($0) }
            return
        }
        guard let choice = ColorChoice(rawValue: word) else {
            throw UsageError(
                "--color \(word) is not one of \(ColorChoice.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        self = choice
    }

    /// - Parameter variable: returns a variable of the environment.
    init(_ variable: (String) -> String?) {
        func value(_ name: String) -> String? { variable(name).flatMap { $0.isEmpty ? nil : $0 } }
        // An empty NO_COLOR counts as not set (no-color.org).
        if value("NO_COLOR") != nil {
            self = .never
        } else if let forced = value("CLICOLOR_FORCE"), forced != "0" {
            self = .always
        } else {
            self = value("CLICOLOR") == "0" ? .never : .auto
        }
    }

    /// Whether formatted output is coloured.
    func colors(_ isTerminal: Bool) -> Bool {
        switch self {
        case .auto: isTerminal && environment("TERM") != "dumb"
        case .always: true
        case .never: false
        }
    }
}
