import Glibc
import NevodHost
import NevodSupport

/// `profile edit`: opens a copy of the config file in an editor. The copy replaces the file if it is valid, and otherwise stays.
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
                "\(error.problem); \(writer.path) is unchanged: mend this copy and move it there, or remove it")
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
        let child: pid_t
        switch ChildProgram.start(program, words, output: nil) {
        case .success(let id): child = id
        case .failure(let error):
            throw UsageError("the editor can't be started: \(String(cString: strerror(error.errorNumber)))")
        }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        let ending = ChildProgram.Ending(status)
        guard ending == .exit(0) else {
            throw UsageError(
                "the editor \(ending.description); \(writer.path) is unchanged, and the copy is \(writer.path).edit")
        }
    }
}
