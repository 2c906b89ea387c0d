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
    private let state: Locked<State>

    /// - Parameter words: `NAME=SOURCE`, in the order in which they serve.
    init(_ words: [String], console: Console) throws {
        self.console = console
        var names: [String] = []
        var state = State()
        for word in words {
            // By bytes: a character that combines with the sign would hide it, and what follows may be a secret.
            guard let equals = word.utf8.firstIndex(of: UInt8(ascii: "=")), equals > word.startIndex else {
                throw UsageError("--answer needs a name and a source: --answer NAME=env:VARIABLE")
            }
            let name = String(word[..<equals])
            let source = String(decoding: word.utf8[equals...].dropFirst(), as: UTF8.self)
            if !names.contains(name) { names.append(name) }
            state.left[name, default: []].append(try Self.source(source, of: name, console))
        }
        self.names = names
        self.state = Locked(state)
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

    func complain() {
        for complaint in complaints { console.warning(complaint) }
    }

    /// Warnings about what nobody has asked for so far: most likely a mistyped name.
    var complaints: [String] {
        let asked = state.withLock { $0.asked }
        return names.filter { !asked.contains($0) }.map { name in
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
