import NevodHost
import NevodSupport

/// What `--answer` gives. Each answer serves one asking: a wrong one-time code that is asked for again is not sent again.
final class GivenAnswers: Sendable {
    enum Source: Sendable {
        /// From the command line, which others can read.
        case text(String)
        /// From the environment.
        case value(Secret)
        /// A path, or `-`. Read when it is asked for: a one-time code may come late.
        case file(String)
    }

    private struct State {
        var left: [String: [Source]] = [:]
        var asked: Set<String> = []
    }

    private let console: Console
    private let names: [String]
    /// Those that no profile brought.
    private let typed: Set<String>
    private let state: Locked<State>

    /// `--answer NAME=SOURCE`, in the order in which they serve. What is typed takes the place of a profile's answers of that name.
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
        // By bytes: a character that combines with the sign would hide it, and what follows may be a secret.
        guard let equals = word.utf8.firstIndex(of: UInt8(ascii: "=")), equals > word.startIndex else {
            throw UsageError("--answer needs a name and a source: --answer NAME=env:VARIABLE")
        }
        return (String(word[..<equals]), String(decoding: word.utf8[equals...].dropFirst(), as: UTF8.self))
    }

    private static func source(_ text: String, of name: String, _ console: Console) throws -> Source {
        if text == "-" { return .file(text) }
        if text.hasPrefix("file:") { return .file(String(text.dropFirst(5))) }
        if text.hasPrefix("env:") {
            return .value(try SecretSource(console: console).read(text, what: "the answer \"\(name)\""))
        }
        return .text(text.hasPrefix("text:") ? String(text.dropFirst(5)) : text)
    }

    /// The next answer of this name; nil if there is none, or none any more.
    func take(_ name: String) -> Source? {
        state.withLock { state in
            state.asked.insert(name)
            guard let next = state.left[name]?.first else { return nil }
            state.left[name]?.removeFirst()
            return next
        }
    }

    func wereGiven(_ name: String) -> Bool { names.contains(name) }

    /// The answers that are no secrets, as they were given. Two that differ in one may be two people's.
    var texts: [String] {
        state.withLock { state in
            names.flatMap { state.left[$0] ?? [] }.compactMap { if case .text(let text) = $0 { text } else { nil } }
        }
    }

    enum Part {
        case all
        /// A profile's are for logins, too.
        case typed
    }

    func complain(of part: Part = .all) {
        for complaint in complaints(of: part) { console.warning(complaint) }
    }

    /// Warnings about what nobody has asked for so far: most likely a mistyped name.
    func complaints(of part: Part) -> [String] {
        let asked = state.withLock { $0.asked }
        return names.filter { !asked.contains($0) && (part == .all || typed.contains($0)) }.map { name in
            let hint = Suggestions.hint(for: name, among: asked.sorted())
            let known = asked.isEmpty ? "nothing" : asked.sorted().joined(separator: ", ")
            return "nobody asked for --answer \(name)\(hint.isEmpty ? "; asked was for \(known)" : hint)"
        }
    }
}

extension GivenAnswers {
    /// The next answer of this name, which is a secret; nil if there is none.
    func secret(named name: String) async throws -> Secret? {
        switch take(name) {
        case nil: return nil
        case .text: throw SettingSourceError(secretAnswer: name)
        case .value(let secret): return secret
        case .file(let path):
            let console = console
            return try await onThread {
                try SecretSource(console: console).read(path == "-" ? path : "file:\(path)", what: "the answer \"\(name)\"")
            }
        }
    }
}

extension SettingSourceError {
    init(secretAnswer name: String) {
        self.init(
            "the answer \"\(name)\" is a secret, and a command line can be read by other processes; write "
                + "--answer \(ShellWord.quoted(name))=env:VARIABLE, file:PATH or -, or leave it out to be asked")
    }
}
