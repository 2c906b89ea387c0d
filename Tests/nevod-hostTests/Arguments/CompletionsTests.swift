import NevodTestSupport
import Testing

@testable import nevod_host

/// Types into real shells at a terminal made by `script`, and compares the arguments that the command receives.
@Suite struct CompletionsTests {
    private static let typed = [
        ("--outp\tx", "<--outputx>"),
        ("-o bod\t-", "<-o><body.json><->"),
        ("--output=bod\t-", "<--output=body.json><->"),
        ("-so wit\t-", "<-so><with space.txt><->"),
        ("-d @bod\t-", "<-d><@body.json><->"),
        ("-d bod\t-", "<-d><bod->"),
        ("-d @wit\t-", "<-d><@with space.txt><->"),
        ("--data=@su\tot\t-", "<--data=@sub/other.so><->"),
        ("-p libH\t-", "<-p><libHMACAuth.so><->"),
        ("--plugin=libH\t-", "<--plugin=libHMACAuth.so><->"),
        ("-p ./lo\t-", "<-p><./local.so><->"),
        // Nothing is loaded from the working directory.
        ("-p loc\t-", "<-p><loc->"),
        ("-p su\tot\t-", "<-p><sub/other.so><->"),
        ("--output-dir s\t-", "<--output-dir><sub/->"),
        ("-X PAT\t-", "<-X><PATCH><->"),
        ("--profile oth\t-", "<--profile><other one><->"),
        ("sig\t--cur\t-", "<sign><--curl><->"),
        ("sign --outp\t-", "<sign><--outp->"),
        ("inspect libH\t--js\t-", "<inspect><libHMACAuth.so><--json><->"),
        ("stor\tver\t-", "<store><verify><->"),
        ("prof\tsho\toth\t-", "<profile><show><other one><->"),
        ("store export bod\t-", "<store><export><body.json><->"),
        ("-H 'A: b' -so bod\t-", "<-H><A: b><-so><body.json><->"),
        ("new acme --language ru\t-", "<new><acme><--language><rust><->"),
        ("-- --outp\t-", "<--><--outp->"),
        ("http://x/ bod\t-", "<http://x/><bod->"),
    ]

    private func playground() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        _ = try Shell.run("cd '\(folder.path)' && mkdir -p work/sub plugins config/nevod home")
        for file in ["work/body.json", "work/with space.txt", "work/local.so", "work/sub/other.so", "plugins/libHMACAuth.so"] {
            try folder.write(file)
        }
        try folder.write("config/nevod/config", "# [no]\n[work]\nplugin = x\n  [ other one ] # note\n")
        for shell in Completions.Shell.allCases { try folder.write("nevod.\(shell.rawValue)", Completions.script(for: shell)) }
        return folder
    }

    private func environment(_ folder: TemporaryFolder) -> String {
        "cd '\(folder.path)/work'; export TERM=xterm NEVOD_PLUGIN_PATH=relative:\(folder.path)/plugins "
            + "XDG_CONFIG_HOME=\(folder.path)/config XDG_DATA_HOME=\(folder.path)/none HOME=\(folder.path)/home"
    }

    private func check(_ shell: Completions.Shell, _ command: String, _ start: String) throws {
        guard Shell.has(shell.rawValue), Shell.has("script") else { return }
        let folder = try playground()
        #expect(try Shell.run("\(shell.rawValue) -n '\(folder.path)/nevod.\(shell.rawValue)'").output == "")
        try folder.write(
            shell == .zsh ? "home/.zshrc" : "home/.bashrc",
            """
            \(environment(folder))
            PS1='$ '
            \(start)
            source \(folder.path)/nevod.\(shell.rawValue)
            nevod-host() { printf '\\nGOT'; printf '<%s>' "$@"; printf '\\n'; }

            """)
        try folder.write("keys", Self.typed.map { "nevod-host \($0.0)\n" }.joined() + "exit\n")
        let (output, _) = try Shell.run(
            "HOME='\(folder.path)/home' ZDOTDIR='\(folder.path)/home' timeout 60 script -qec '\(command)' /dev/null <'\(folder.path)/keys'"
        )
        // A terminal ends its lines with CR LF, a single Character.
        let got = output.split { $0.isNewline }.filter { $0.hasPrefix("GOT") }.map { String($0.dropFirst(3)) }
        for (index, (keys, words)) in Self.typed.enumerated() {
            #expect(index < got.count ? got[index] == words : false, "\(keys) gave \(index < got.count ? got[index] : output)")
        }
        #expect(!output.contains("command not found") && !output.contains("bad pattern"))
    }

    @Test("bash")
    func bash() throws {
        try check(.bash, "bash -i", "bind 'set enable-bracketed-paste off'")
    }

    @Test("zsh")
    func zsh() throws {
        try check(.zsh, "zsh -d -i", "unset zle_bracketed_paste; autoload -Uz compinit; compinit -u -D; setopt noautolist")
    }

    @Test("zsh, loaded from a folder of functions")
    func zshFunction() throws {
        guard Shell.has("zsh") else { return }
        let folder = try playground()
        _ = try Shell.run(
            "mkdir '\(folder.path)/functions' && cp '\(folder.path)/nevod.zsh' '\(folder.path)/functions/_nevod-host'")
        let (output, _) = try Shell.run(
            "zsh -f -c 'fpath=(\(folder.path)/functions $fpath); autoload -Uz compinit; compinit -u -D; print $_comps[nevod-host]'"
        )
        #expect(output == "_nevod-host\n")
    }

    @Test("fish offers the expected completions")
    func fish() throws {
        guard Shell.has("fish") else { return }
        let folder = try playground()
        #expect(try Shell.run("fish -n '\(folder.path)/nevod.fish'").output == "")
        let cases = [
            ("--outp", ["--output", "--output-dir"]), ("-o bod", ["body.json"]), ("--output=bod", ["--output=body.json"]),
            ("-d @bod", ["@body.json"]), ("--data=@bod", ["--data=@body.json"]), ("-d bod", []), ("-p libH", ["libHMACAuth.so"]),
            ("-plibH", ["-plibHMACAuth.so"]), ("-p ./lo", ["./local.so"]), ("-p loc", []), ("-X PA", ["PATCH"]),
            ("--profile ", ["other one", "work"]), ("--output-dir s", ["sub/"]), ("s", ["sessions", "sign", "store"]),
            ("store ex", ["export"]), ("login --acc", ["--account"]), ("new a --language c", ["c", "cpp"]),
            ("completions z", ["zsh"]), ("profile show oth", ["other one"]), ("sign --cur", ["--curl"]),
            ("--cur", []), ("sign --outp", []), ("inspect libH", ["libHMACAuth.so"]), ("inspect --js", ["--json"]),
            ("h", ["header", "help", "http://", "https://"]), ("http://x bod", []), ("-H \"A: b\" --cace", ["--cacert"]),
        ]
        let commands = cases.map { "echo \"[]\"; complete -C 'nevod-host \($0.0)'\n" }.joined()
        try folder.write("run.fish", "source \(folder.path)/nevod.fish\n" + commands)
        let (output, _) = try Shell.run("\(environment(folder)); fish -N '\(folder.path)/run.fish'")
        var received: [[String]] = []
        for line in output.split(separator: "\n") {
            if line == "[]" {
                received.append([])
            } else {
                received[received.count - 1].append(String(line.prefix { $0 != "\t" }))
            }
        }
        try #require(received.count == cases.count, "\(output)")
        for (words, (keys, expected)) in zip(received, cases) { #expect(words.sorted() == expected, "\(keys)") }
    }

    @Test("Every flag is in every script")
    func complete() {
        let spellings = Flag.all.flatMap(\.spellings)
        #expect(spellings.filter { !Completions.bash.contains($0) } == [])
        #expect(spellings.filter { !Completions.zsh.contains($0) } == [])
        #expect(Flag.all.map(\.long).filter { !Completions.fish.contains(" -l \($0) ") } == [])
    }

    @Test("Files, folders, plugins, methods and profiles are completed as what they are")
    func kinds() {
        func kind(_ name: Flag.Name) -> Flag.ValueKind? { Flag.all.first { $0.name == name }?.value?.kind }
        #expect(
            kind(.output) == .file && kind(.caFile) == .file && kind(.uploadFile) == .file && kind(.outputDirectory) == .folder)
        #expect(kind(.plugin) == .plugin && kind(.method) == .method && kind(.profile) == .profile && kind(.set) == .setting)
    }
}
