import NevodHost

/// A login or a store needs an answer, and there is no terminal to ask at. The text says how to give it otherwise.
struct UnansweredError: Error, CustomStringConvertible {
    let description: String

    /// - Parameter used: the names of the questions whose answers were given and are used up.
    init(_ scheme: Scheme, _ questions: [FlowQuestion], used: [String]) {
        let what = questions.map { question in
            let choices =
                if case .choice(let choices) = question.kind { ", one of \(choices.joined(separator: ", "))" } else { "" }
            return "\"\(question.name)\"" + (question.prompt.isEmpty && choices.isEmpty ? "" : " (\(question.prompt)\(choices))")
        }
        let again =
            used.isEmpty ? "" : " (the --answer for \(used.joined(separator: ", ")) is used up; each serves one question)"
        description =
            "\(Self.login(scheme)) asks for \(what.joined(separator: " and "))\(again), and there is no terminal; write "
            + questions.map { "--answer \(ShellWord.quoted($0.name))=env:VARIABLE" }.joined(separator: " ")
            + ", or file:PATH or - in place of env:VARIABLE"
    }

    /// - Parameter url: the address that can't be shown.
    init(_ scheme: Scheme, browser url: String) {
        description =
            "\(Self.login(scheme)) asks to open \(url) in a browser on this machine, and there is neither a terminal nor a display; "
            + "set BROWSER to a command that opens addresses"
    }

    /// - Parameter attempts: the number of answers, none of which was a choice.
    init(_ scheme: Scheme, _ question: FlowQuestion, _ choices: [String], after attempts: Int) {
        description =
            "\(Self.login(scheme)) asks for \"\(question.name)\", and none of \(attempts) answers was one of \(choices.joined(separator: ", "))"
    }

    /// - Parameter answer: the name of its `--answer`.
    init(passphrase answer: String) {
        description =
            "a passphrase is needed, and there is no terminal to ask for it; write --answer \(answer)=env:VARIABLE, file:PATH or -"
    }

    /// A person closed the prompt (Ctrl-D) instead of answering.
    static let closedPrompt = UnansweredError(description: "cancelled: the prompt was closed without an answer")

    /// Joins the errors of a login that tried several things; nil without any.
    init?(_ errors: [UnansweredError]) {
        guard !errors.isEmpty else { return nil }
        description = errors.map(\.description).joined(separator: "; ")
    }

    private init(description: String) {
        self.description = description
    }

    /// Adds a command that logs in at a terminal; nil for none.
    func offering(_ command: String?) -> UnansweredError {
        guard let command else { return self }
        return UnansweredError(description: "\(description); or log in once, at a terminal: \(command)")
    }

    private static func login(_ scheme: Scheme) -> String { "\(scheme.plugin): the login of the scheme \"\(scheme.id)\"" }
}
