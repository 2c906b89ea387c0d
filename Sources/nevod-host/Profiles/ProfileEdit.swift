import Glibc
import NevodHost
import NevodProcesses
import NevodSupport

/// `profile edit`: opens a copy of the config file in an editor. A valid copy replaces the file; an invalid one stays beside it.
struct ProfileEdit {
    let console: Console
    let writer: ConfigWriter

    func run() throws {
        let before = try ConfigFile.load(path: writer.path)?.bytes
        guard Terminal.isAvailable || trustedEnvironment("VISUAL") != nil || trustedEnvironment("EDITOR") != nil else {
            throw UsageError("there is no terminal for an editor; edit \(writer.path), then run: nevod-host profile check")
        }
        let words = try editor()
        guard let program = ProgramSearch.path(of: words[0]) else {
            throw UsageError("the editor \"\(TerminalText.safe(words[0]))\" is not found; set EDITOR to another")
        }
        try ConfigWriter.createFolder(writer.folder)
        let copy = "\(writer.path).edit"
        guard access(copy, F_OK) != 0 else {
            throw UsageError("\(copy) is left from an earlier edit; move it to \(writer.path), or remove it")
        }
        let given = before ?? Array("# [NAME] begins a profile; see nevod-host profile add --help\n".utf8)
        try ConfigWriter.write(given, to: copy)
        try edit(program, words + [copy])
        let after = try readFile(copy, limit: 1 << 20)
        guard after != given else {
            unlink(copy)
            return try output("\(writer.path) is unchanged")
        }
        do {
            try writer.replace { file in
                guard file?.bytes == before else {
                    throw UsageError("\(writer.path) was changed by another program meanwhile")
                }
                do throws(ConfigError) { _ = try ConfigFile(path: copy, bytes: after) } catch { throw error }
                return after
            }
        } catch let error as ConfigError {
            throw ConfigError(
                error.path, error.line,
                "\(error.problem); \(writer.path) is unchanged: correct this copy and move it there, or remove it")
        } catch let error as UsageError {
            throw UsageError("\(error.description); your edit is kept in \(copy)")
        }
        unlink(copy)
        try output("\(writer.path) is changed; nevod-host profile check tries it")
    }

    private func editor() throws -> [String] {
        let named = ["VISUAL", "EDITOR"].compactMap(trustedEnvironment).first { !$0.isEmpty }
        do throws(CommandWordsError) { return try CommandWords.split(named ?? "vi") } catch {
            throw UsageError("the command in VISUAL or EDITOR \(error)")
        }
    }

    private func edit(_ program: String, _ words: [String]) throws {
        let ending: Subprocess.Ending
        do throws(Subprocess.StartError) { ending = try Subprocess(program, words).wait() } catch {
            throw UsageError("the editor can't be started: \(error.reason)")
        }
        guard ending == .exit(0) else {
            throw UsageError(
                "the editor \(ending); \(writer.path) is unchanged, and the copy is \(writer.path).edit")
        }
    }
}
