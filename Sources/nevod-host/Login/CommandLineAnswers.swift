import NevodHost
import NevodSupport

/// The answers given with `--answer`. Each is used once: a wrong one-time code is not sent again when the login asks again.
final class CommandLineAnswers: Sendable {
    enum Source: Sendable {
        /// A text from the command line, which other processes can read.
        case text(String)
        /// A value from the environment.
        case value(Secret)
        /// Read when the question comes, because a one-time code may be written later.
        case source(String)
    }

    private struct State {
        var left: [String: [Source]] = [:]
        var asked: Set<String> = []
    }

    private let console: Console
    private let names: [String]
    /// The names given on the command line, not by a profile.
    private let typed: Set<String>
    private let state: Locked<State>

    /// Reads `--answer NAME=SOURCE`, in the order of use. Answers on the command line replace a profile's answers of the same
    /// name.
    init(_ arguments: Arguments, console: Console) throws {
        self.console = console
        let typed = try arguments.typed.filter { $0.name == .answer }.map { try Self.parts(of: $0.value) }
        let all = try arguments.values(.answer).map(Self.parts)
        let own = Set(typed.map(\.name))
        var names: [String] = []
        var state = State()
        for (name, source) in all.dropLast(typed.count).filter({ !own.contains($0.name) }) + typed {
            if !names.contains(name) { names.append(name) }
            state.left[name, default: []].append(try Self.source(source, of: name, console))
        }
        self.names = names
        self.typed = own
        self.state = Locked(state)
    }

    private static func parts(of word: String) throws -> (name: String, source: String) {
        // Splits by bytes: a character that combines with the equals sign would hide it, and the text after it may be a secret.
        guard let equals = word.utf8.firstIndex(of: UInt8(ascii: "=")), equals > word.startIndex else {
            throw UsageError("--answer needs a name and a source: --answer NAME=env:VARIABLE")
        }
        return (String(word[..<equals]), String(decoding: word.utf8[equals...].dropFirst(), as: UTF8.self))
    }

    private static func source(_ text: String, of name: String, _ console: Console) throws -> Source {
        if text.hasPrefix("env:") {
            return .value(try SecretSource(console: console).read(text, what: "the answer \"\(name)\""))
        }
        if SecretSource.isSource(text) { return .source(text) }
        return .text(text.hasPrefix("text:") ? String(text.dropFirst(5)) : text)
    }

    /// Takes the next answer of this name; nil if no more are left.
    func take(_ name: String) -> Source? {
        state.withLock { state in
            state.asked.insert(name)
            guard let next = state.left[name]?.first else { return nil }
            state.left[name]?.removeFirst()
            return next
        }
    }

    /// Whether an answer of this name is left. The question counts as asked either way.
    func offers(_ name: String) -> Bool {
        state.withLock { state in
            state.asked.insert(name)
            return state.left[name]?.isEmpty == false
        }
    }

    func isGiven(_ name: String) -> Bool { names.contains(name) }

    /// The answers given as plain texts, such as a user's name.
    var plainTexts: [String] {
        state.withLock { state in
            names.flatMap { state.left[$0] ?? [] }.compactMap { if case .text(let text) = $0 { text } else { nil } }
        }
    }

    enum Part {
        case all
        /// Only the answers on the command line. A profile's answers may be for another command.
        case typed
    }

    func warnAboutUnused(_ part: Part = .all) {
        for warning in unusedWarnings(part) { console.warning(warning) }
    }

    /// Returns warnings about answers that no question has asked for so far; most likely their names are mistyped.
    func unusedWarnings(_ part: Part) -> [String] {
        let asked = state.withLock { $0.asked }
        return names.filter { !asked.contains($0) && (part == .all || typed.contains($0)) }.map { name in
            let hint = Suggestions.hint(for: name, among: asked.sorted())
            let known = asked.isEmpty ? "there were no questions" : "the questions were \(asked.sorted().joined(separator: ", "))"
            return "no question asked for --answer \(name)\(hint.isEmpty ? "; \(known)" : hint)"
        }
    }
}

extension CommandLineAnswers {
    /// Takes the next answer of this name, which must be a secret; nil if there is none.
    func secret(named name: String) async throws -> Secret? {
        switch take(name) {
        case nil: return nil
        case .text: throw SettingSourceError(secretAnswer: name)
        case .value(let secret): return secret
        case .source(let source):
            let console = console
            return try await onThread { try SecretSource(console: console).read(source, what: "the answer \"\(name)\"") }
        }
    }
}

extension SchemeLogin {
    /// Warns if the answers name another account than the stored session's, because the stored session is used anyway.
    func warnIfAnswersAreIgnored(_ session: SchemeSession) async throws {
        let texts = givenAnswers.plainTexts
        guard !texts.isEmpty, let account = try? await session.tokenStorage(for: scheme.parameters).load()?.account,
            !account.isEmpty, !texts.contains(account)
        else { return }
        console.warning(
            "the stored session of \(TerminalText.safe(account)) is used and the answers are ignored; "
                + "to log in with another account: \(LoginCommandLine.text(arguments))")
    }
}
