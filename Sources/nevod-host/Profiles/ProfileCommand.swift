import NevodHost
import NevodSupport

/// `profile`: writes, lists, checks and changes the profiles of the config file.
struct ProfileCommand: Sendable {
    let arguments: Arguments
    let console: Console

    func run() throws {
        let words = arguments.operands
        switch (words.first, words.count) {
        case ("add", 1), ("add", 2):
            try ProfileAdd(arguments: arguments, console: console, writer: try ConfigWriter()).run(words.dropFirst().first)
        case ("list", 1): try only([.json], "list") { try list() }
        case ("show", 2):
            try only([.json], "show") { try ProfileReport(try loaded(), words[1]).write(asJSON: arguments.has(.json)) }
        case ("edit", 1): try only([], "edit") { try ProfileEdit(console: console, writer: try ConfigWriter()).run() }
        case ("check", 1), ("check", 2): try only([], "check") { try check(words.dropFirst().first) }
        case ("remove", 2):
            try only([.force], "remove") {
                try ProfileRemoval(console: console, writer: try ConfigWriter()).remove(words[1], asks: !arguments.has(.force))
            }
        case ("rename", 3): try only([], "rename") { try rename(words[1], to: words[2]) }
        case ("default", 1): try only([], "default") { try output(try loaded().defaultName ?? ProfileSelection.none) }
        case ("default", 2): try only([], "default") { try setDefault(words[1]) }
        case (nil, _), ("show", _), ("remove", _), ("rename", _):
            throw UsageError("profile needs a command and a NAME, such as profile show NAME; see nevod-host profile --help")
        case (let word?, _):
            let hint = Suggestions.hint(for: word, among: arguments.command.operandWords)
            throw UsageError(
                "profile can't \(TerminalText.safe(words.joined(separator: " ")))\(hint.isEmpty ? "; see nevod-host profile --help" : hint)"
            )
        }
    }

    /// Refuses flags that only another subcommand takes.
    private func only(_ names: [Flag.Name], _ word: String, _ body: () throws -> Void) throws {
        if let other = arguments.flags.first(where: { !([.silent, .verbose, .debuggable] + names).contains($0.name) }) {
            throw UsageError("profile \(word) takes no \(other.name.spelling)")
        }
        try body()
    }

    /// Loads the config file. It must exist.
    private func loaded() throws -> ConfigFile {
        let path = try ConfigWriter().path
        let file = try ProfileRemoval.existing(try ConfigFile.load(path: path), path)
        if file.isReadableByOthers { console.warning(warning(aboutReadersOf: path, holdsSecret: false)) }
        return file
    }

    private func list() throws {
        let path = try ConfigWriter().path
        let file = try ConfigFile.load(path: path)
        let profiles = file?.profiles ?? []
        if arguments.has(.json) {
            return try output(
                JSON.object([
                    ("path", .string(path)), ("default", file?.defaultName.map(JSON.string) ?? .null),
                    (
                        "profiles",
                        .array(
                            profiles.map { profile in
                                .object([
                                    ("name", .string(profile.name)), ("url", profile.baseURL.map(JSON.string) ?? .null),
                                    ("plugin", profile.plugin.map(JSON.string) ?? .null), ("line", .number(profile.line)),
                                ])
                            })
                    ),
                ]).text)
        }
        guard !profiles.isEmpty else { return try output("no profiles in \(path); nevod-host profile add makes one") }
        let rows = profiles.map { profile in
            [
                profile.name, profile.name == file?.defaultName ? "yes" : "-", profile.baseURL ?? "-", profile.plugin ?? "-",
            ].map { TerminalText.safe($0) }
        }
        try output(Columns.text([["PROFILE", "DEFAULT", "URL", "PLUGIN"]] + rows) + "\nin \(path)")
    }

    private func check(_ name: String?) throws {
        let file = try loaded()
        let profiles = if let name { [try file.profile(name)] } else { file.profiles }
        var failure: (any Error)?
        var lines: [String] = []
        for profile in profiles {
            let check = ProfileCheck(file: file, profile: profile, console: console)
            let problems = check.problems()
            lines += problems.map { "\(TerminalText.safe(profile.name)): \(check.text(of: $0))" }
            if problems.isEmpty { lines.append("\(TerminalText.safe(profile.name)): ok") }
            failure = failure ?? problems.first
        }
        if !lines.isEmpty { try output(lines.joined(separator: "\n")) }
        let count = lines.count { !$0.hasSuffix(": ok") }
        if let failure { throw ProfileProblemsError(count: count, exitCode: ExitCode.of(failure)) }
    }

    private func rename(_ name: String, to new: String) throws {
        try ProfileName.check(new)
        let writer = try ConfigWriter()
        try writer.change { file, text in
            let file = try ProfileRemoval.existing(file, writer.path)
            _ = try file.profile(name)
            guard !file.profiles.contains(where: { $0.name == new }) else {
                throw UsageError("there is a profile \"\(new)\" already; nevod-host profile remove removes it")
            }
            text.rename(name, to: new)
            if file.defaultName == name { text.setDefault(new) }
        }
        try output("renamed \(name) to \(new)")
        guard try loaded().profile(new).plugin != nil else { return }
        console.inform(
            "sessions of \(TerminalText.safe(name)) keep its name: log in again with nevod-host login --profile "
                + "\(ShellWord.quoted(new)), and see nevod-host sessions for the old ones")
    }

    private func setDefault(_ name: String) throws {
        let writer = try ConfigWriter()
        try writer.change { file, text in
            if name != ProfileSelection.none {
                let profile = try ProfileRemoval.existing(file, writer.path).profile(name)
                guard profile.baseURL != nil else {
                    throw ConfigError(
                        writer.path, profile.line, "the profile \"\(name)\" has no url, and the default is for relative URLs")
                }
            }
            text.setDefault(name == ProfileSelection.none ? nil : name)
        }
        try output(name == ProfileSelection.none ? "no profile is the default" : "\(name) is the default")
    }
}

/// Reports that `profile check` has found problems. They are printed already.
struct ProfileProblemsError: Error, CustomStringConvertible {
    let count: Int
    /// The exit code of the first problem.
    let exitCode: Int32

    var description: String { "\(count) \(count == 1 ? "problem" : "problems") found" }
}
