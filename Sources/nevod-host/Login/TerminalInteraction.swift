import Glibc
import NevodHost
import NevodSupport

/// Asks a login's questions at the terminal, unless `--answer` answers them, and shows its texts. All texts come from plugins and
/// servers and are made safe for the terminal.
struct TerminalInteraction: UserInteraction {
    let scheme: Scheme
    let givenAnswers: CommandLineAnswers
    let reporter: LoginReporter
    let console: Console
    /// The command to suggest for logging in at a terminal; nil if this is that command.
    var loginCommand: String?

    private static let mostAttempts = 3

    func loginBegins(with scheme: String, at origins: [Origin]) async {
        reporter.loginBegins(scheme, origins)
    }

    func supports(_ action: UserAction) -> Bool {
        switch action {
        case .answer(let questions): open(questions).isEmpty || Terminal.isAvailable
        // A person reads standard error, now or later.
        case .show: true
        case .open: Browser.isAvailable || Terminal.isAvailable
        }
    }

    func error(forUnsupported actions: [UserAction]) -> (any Error)? {
        let errors = actions.compactMap { action in
            switch action {
            case .answer(let questions): unanswered(open(questions))
            case .open(let url): UnansweredError(scheme, browser: url)
            case .show: nil
            }
        }
        return UnansweredError(errors)?.offering(loginCommand)
    }

    /// The questions without an answer on the command line.
    private func open(_ questions: [FlowQuestion]) -> [FlowQuestion] { questions.filter { !givenAnswers.offers($0.name) } }

    private func unanswered(_ questions: [FlowQuestion]) -> UnansweredError {
        UnansweredError(scheme, questions, used: questions.map(\.name).filter(givenAnswers.isGiven))
    }

    func answers(to questions: [FlowQuestion]) async throws -> [String: Secret] {
        let sources = questions.map { (question: $0, source: givenAnswers.take($0.name)) }
        let open = sources.filter { $0.source == nil }.map(\.question)
        guard open.isEmpty || Terminal.isAvailable else {
            throw unanswered(open).offering(loginCommand)
        }
        var answers: [String: Secret] = [:]
        for (question, source) in sources {
            answers[question.name] =
                if let source { try await value(of: source, for: question) } else { try await ask(question) }
        }
        return answers
    }

    func show(_ text: String, url: String) async throws {
        let lines = [text, url].filter { !$0.isEmpty }.map { "nevod-host: \(TerminalText.safe($0))\n" }
        report(lines.joined())
    }

    func open(_ url: String) async throws {
        let isOpened = Browser.open(url)
        guard isOpened || Terminal.isAvailable else { throw UnansweredError(scheme, browser: url).offering(loginCommand) }
        let what = isOpened ? "this address was opened in a browser" : "open this address in a browser on this machine"
        report("nevod-host: \(what):\nnevod-host: \(TerminalText.safe(url))\n")
    }

    /// Writes to standard error, and to the terminal as well if standard error isn't shown there: the login can't go on without
    /// it.
    private func report(_ lines: String) {
        console.note(lines)
        if console.isSilent || isatty(STDERR_FILENO) == 0 { Terminal.write(lines) }
    }
}

extension TerminalInteraction {
    private func value(of source: CommandLineAnswers.Source, for question: FlowQuestion) async throws -> Secret {
        let isSecret = question.kind == .secret
        let value: Secret
        switch source {
        case .text(let text):
            guard !isSecret else { throw SettingSourceError(secretAnswer: question.name) }
            value = Secret(text)
        case .value(let secret): value = secret
        case .source(let source):
            let console = console
            value = try await onThread {
                try SecretSource(console: console).read(source, what: "the answer \"\(question.name)\"", isSecret: isSecret)
            }
        }
        guard case .choice(let choices) = question.kind else { return value }
        guard let choice = Self.choice(value, of: choices) else {
            throw SettingSourceError(
                "the answer \"\(question.name)\" must be one of \(choices.joined(separator: ", ")), or its number")
        }
        return Secret(choice)
    }

    private func ask(_ question: FlowQuestion) async throws -> Secret {
        let prompt = TerminalText.safe(question.prompt.isEmpty ? question.name : question.prompt)
        guard case .choice(let choices) = question.kind else {
            return try await line("\(prompt): ", question, echoes: question.kind != .secret)
        }
        let table = choices.enumerated().map { "  \($0 + 1)  \(TerminalText.safe($1))\n" }.joined()
        var text = "\(prompt)\n\(table)Number or name: "
        for _ in 0..<Self.mostAttempts {
            if let choice = Self.choice(try await line(text, question, echoes: true), of: choices) { return Secret(choice) }
            text = "Not one of the choices. Number or name: "
        }
        throw UnansweredError(scheme, question, choices, after: Self.mostAttempts)
    }

    private func line(_ prompt: String, _ question: FlowQuestion, echoes: Bool) async throws -> Secret {
        guard let answer = try await Terminal.answer(prompt, echoes: echoes) else {
            throw UnansweredError(scheme, [question], used: [])
        }
        return answer
    }

    /// Finds a choice by its name, or else by its number from 1; a choice named `2` wins over the second choice.
    static func choice(_ answer: Secret, of choices: [String]) -> String? {
        let text = answer.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        if choices.contains(text) { return text }
        guard let number = Int(text), choices.indices.contains(number - 1) else { return nil }
        return choices[number - 1]
    }
}

/// Reports that a login or a store needs an answer, but there is no terminal to ask at. The text says how to give the answer
/// otherwise.
struct UnansweredError: Error, CustomStringConvertible {
    let description: String

    /// - Parameter used: the names of the questions that had an answer, which is used up.
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

    /// - Parameter attempts: the number of invalid answers.
    init(_ scheme: Scheme, _ question: FlowQuestion, _ choices: [String], after attempts: Int) {
        description =
            "\(Self.login(scheme)) asks for \"\(question.name)\", but none of \(attempts) answers was one of \(choices.joined(separator: ", "))"
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
