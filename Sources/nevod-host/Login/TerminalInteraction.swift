import Glibc
import NevodHost
import NevodSupport

/// Asks on the terminal what a login has to know, unless `--answer` says it, and shows what it shows. All text comes from
/// plugins and servers, and is made safe.
struct TerminalInteraction: UserInteraction {
    let scheme: Scheme
    let given: GivenAnswers
    let notes: LoginNotes
    let console: Console
    /// What a person could type to be asked, once for many commands; nil if that is what is being done.
    var loginCommand: String?

    private static let mostAttempts = 3

    func loginBegins(with scheme: String, at origins: [Origin]) async {
        notes.begin(scheme, origins)
    }

    func answers(to questions: [FlowQuestion]) async throws -> [String: Secret] {
        let sources = questions.map { (question: $0, source: given.take($0.name)) }
        let open = sources.filter { $0.source == nil }.map(\.question)
        guard open.isEmpty || Terminal.isThere else {
            throw UnansweredError(scheme, open, used: open.map(\.name).filter(given.wereGiven)).offering(loginCommand)
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
        tell(lines.joined())
    }

    func open(_ url: String) async throws {
        let isOpened = Browser.open(url)
        guard isOpened || Terminal.isThere else { throw UnansweredError(scheme, browser: url).offering(loginCommand) }
        let what = isOpened ? "this address was opened in a browser" : "open this address in a browser of this machine"
        tell("nevod-host: \(what):\nnevod-host: \(TerminalText.safe(url))\n")
    }

    /// To standard error; where nobody reads that, to the terminal: without it the login would wait in vain.
    private func tell(_ lines: String) {
        console.note(lines)
        if console.isSilent || isatty(STDERR_FILENO) == 0 { Terminal.tell(lines) }
    }
}

/// Answers.
extension TerminalInteraction {
    private func value(of source: GivenAnswers.Source, for question: FlowQuestion) async throws -> Secret {
        let isSecret = question.kind == .secret
        let value: Secret
        switch source {
        case .text(let text):
            guard !isSecret else { throw SettingSourceError(secretAnswer: question.name) }
            value = Secret(text)
        case .value(let secret): value = secret
        case .file(let path):
            let console = console
            value = try await onThread {
                try SecretSource(console: console).read(
                    path == "-" ? path : "file:\(path)", what: "the answer \"\(question.name)\"", isSecret: isSecret)
            }
        }
        guard case .choice(let choices) = question.kind else { return value }
        guard let choice = Self.choice(value, of: choices) else {
            throw SettingSourceError(
                "the answer \"\(question.name)\" has to be one of \(choices.joined(separator: ", ")), or its number")
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
            text = "None of them. Number or name: "
        }
        throw UnansweredError(scheme, question, choices, after: Self.mostAttempts)
    }

    private func line(_ prompt: String, _ question: FlowQuestion, echoes: Bool) async throws -> Secret {
        guard let answer = try await Terminal.answer(prompt, echoes: echoes) else {
            throw UnansweredError(scheme, [question], used: [])
        }
        return answer
    }

    /// By its name, or counted from 1; where a choice is called `2`, that is what a 2 means.
    static func choice(_ answer: Secret, of choices: [String]) -> String? {
        let text = answer.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        if choices.contains(text) { return text }
        guard let number = Int(text), choices.indices.contains(number - 1) else { return nil }
        return choices[number - 1]
    }
}
