import Glibc
import NevodHost
import NevodTestSupport
import Testing

@testable import nevod_host

@Suite struct ConfigFileTests {
    private func parse(_ text: String) throws(ConfigError) -> ConfigFile {
        try ConfigFile(path: "config", bytes: Array(text.utf8))
    }

    @Test("Profiles keep their flags in order")
    func profiles() throws {
        let file = try parse(
            """
            \u{FEFF}# comment
            [work]
              url = https://api.example.com/v1
            plugin=libHMACAuth.so
            set = api-key=demo#1\r
            set = secret=env:SECRET
            \theader\t=\tX-A: b  c\t
            # header = no
            location
            silent = true
            json = {"a": 1}
            data =

            [ my home ] # note
            """)
        #expect(file.profiles.map(\.name) == ["work", "my home"])
        let work = try file.profile("work")
        #expect(work.baseURL == "https://api.example.com/v1")
        #expect(work.flags.map(\.name) == [.plugin, .set, .set, .header, .location, .silent, .jsonData, .data])
        #expect(
            work.flags.map(\.value)
                == ["libHMACAuth.so", "api-key=demo#1", "secret=env:SECRET", "X-A: b  c", "", "", "{\"a\": 1}", ""])
        #expect(work.flags(for: .sign).map(\.name) == [.plugin, .set, .set, .header, .silent, .jsonData, .data])
        #expect(try file.profile("my home").flags.isEmpty)
        #expect(try file.profile("my home").baseURL == nil)
        #expect(try parse("").profiles.isEmpty)
    }

    @Test("A profile's origins are its URL's origin, and then the origins in its lines")
    func origins() throws {
        let profile = try parse(
            "[a]\norigins = https://b.test https://C.test:8443/\nurl = https://a.test/v1?q\norigins = http://d.test\n"
        ).profile("a")
        #expect(
            profile.origins.map(\.description)
                == ["https://a.test", "https://b.test", "https://c.test:8443", "http://d.test"])
        #expect(profile.line == 1 && profile.path == "config" && profile.flags.isEmpty)
    }

    @Test(
        "The first flag that is a credential is found",
        arguments: [
            ("header = Accept: a\ncompressed\nproxy = http://p.test", nil), ("header = X-Acme: a", "header"),
            ("header = @file", "header"), ("user = a", "user"), ("silent\nplugin = x\nuser = a", "plugin"), ("set = a=b", "set"),
            ("cert = c.pem", "cert"), ("data = a", nil), ("header = CONTENT-type;", nil),
        ] as [(String, String?)])
    func credentials(text: String, name: String?) throws {
        #expect(try parse("[a]\n\(text)").profile("a").credential(for: .request) == name)
    }

    @Test(
        "Errors name the line and the correction",
        arguments: [
            ("[a]\nhaeder = x", "config:2: unknown option \"haeder\"; did you mean header?"),
            ("[a]\nulr = x", "config:2: unknown option \"ulr\"; did you mean url?"),
            ("[a]\nfrobnicate", "config:2: unknown option \"frobnicate\"; see nevod-host --help"),
            ("[a]\n--header = x", "config:2: write header, without dashes"),
            ("[a]\nprofile = b", "config:2: unknown option \"profile\""), ("[a]\nhelp", "config:2: unknown option \"help\""),
            ("[a]\n\nheader", "config:3: header needs a value: header = LINE"),
            ("[a]\nheader =", "config:2: header needs a value: header = LINE"),
            ("[a]\nsilent = false", "config:2: silent takes no value"),
            ("header = x", "config:1: this is outside a profile"),
            ("[a]\n[b]\n[a]", "config:3: the profile \"a\" is already defined in line 1"),
            ("[a", "config:1: the profile's name has no closing ]"), ("[ ]", "config:1: the profile has no name"),
            ("[a] b", "config:1: a profile's name must be on a line of its own"),
            ("[a]\nurl = api.example.com", "config:2: url must begin with https://"),
            ("[a]\nurl", "config:2: url must begin with"), ("[a]\nurl = https://", "config:2: url must begin with"),
            ("[a]\nurl = file:///x", "config:2: url must begin with"), ("[a]\nurl = http://h/#x", "config:2: url must not have"),
            ("[a]\nurl = http://a\nurl = http://b", "config:3: the profile has a url already"),
            ("[a]\norigins =", "config:2: origins needs a value"), ("[a]\norigins", "config:2: origins needs a value"),
            ("[a]\norigins = https://a.test https://b.test/x", "config:2: origins takes only https://HOST"),
            ("[a]\nurl = http://h:x", "config:2: url can't be used: its port"), ("[a]\norigin = x", "config:2: unknown option"),
            ("[a]\n--origins = x", "config:2: write origins, without dashes"),
            ("[a]\nheader = X: \u{1B}[0m", "config:2: it contains a control character"),
            ("[a]\nheader = X: a\0b", "config:2: it contains a control character"),
            ("[a]\n= x", "config:2: unknown option \"\""), ("[a]\n\u{202E} = x", "config:2: unknown option \"\\u{202e}\""),
        ])
    func errors(text: String, message: String) {
        let error = #expect(throws: ConfigError.self) { try parse(text) }
        #expect(error?.description.hasPrefix(message) == true, "\(String(describing: error))")
    }

    @Test("Errors never contain a possible secret")
    func secrets() {
        for line in [
            "my secret hunter2", "haeder = hunter2", "silent = hunter2", "url = hunter2", "url = https://u:hunter2@h",
            "origins = https://a.test/hunter2", "origins = hunter2",
        ] {
            let error = #expect(throws: ConfigError.self) { try parse("[a]\n\(line)") }
            #expect(error?.description.contains("hunter2") == false)
        }
    }

    @Test("An unknown profile is an error that names the known ones")
    func missing() throws {
        let file = try parse("[work]\n[home]")
        #expect(throws: ConfigError("config", nil, "there is no profile \"wrok\"; did you mean work?")) {
            try file.profile("wrok")
        }
        #expect(throws: ConfigError("config", nil, "there is no profile \"x\"; it has work, home")) { try file.profile("x") }
        #expect(throws: ConfigError("config", nil, "there is no profile \"x\"; it has none")) { try parse("").profile("x") }
        #expect(throws: ConfigError("config", nil, "it is not UTF-8")) {
            try ConfigFile(path: "config", bytes: [0x5B, 0xFF, 0x5D])
        }
    }

    @Test("A file that others can write is refused, and one that they can read is reported")
    func permissions() throws {
        let folder = try TemporaryFolder()
        for (mode, isReadable) in [(0o600, false), (0o400, false), (0o640, true), (0o644, true)] as [(mode_t, Bool)] {
            let path = try folder.write("config\(mode)", "[a]\n", mode: mode)
            #expect(try ConfigFile.load(path: path)?.isReadableByOthers == isReadable)
        }
        for mode in [0o620, 0o602, 0o666] as [mode_t] {
            let path = try folder.write("config\(mode)", "[a]\n", mode: mode)
            let error = #expect(throws: ConfigError.self) { try ConfigFile.load(path: path) }
            #expect(error?.description.contains("others may write \(path); chmod go-w it") == true)
        }
        let path = try folder.write("config", "[a]\n")
        chmod(folder.path, 0o777)
        let error = #expect(throws: ConfigError.self) { try ConfigFile.load(path: path) }
        #expect(error?.description.contains("others may write \(folder.path); chmod go-w it") == true)
        chmod(folder.path, 0o1777)
        #expect(try ConfigFile.load(path: path) != nil)
        if geteuid() == 0 {
            chown(path, 12345, 12345)
            let error = #expect(throws: ConfigError.self) { try ConfigFile.load(path: path) }
            #expect(error?.description.contains("belongs to another user (uid 12345)") == true)
        }
        chmod(folder.path, 0o700)
    }

    @Test("A folder at any height above the file that others can write is refused, also above a link to it")
    func foldersAbove() throws {
        let folder = try TemporaryFolder()
        let deep = "\(folder.path)/a/b/c"
        for path in ["\(folder.path)/a", "\(folder.path)/a/b", deep] { mkdir(path, 0o700) }
        let path = try folder.write("a/b/c/config", "[a]\n")
        #expect(try ConfigFile.load(path: path) != nil)
        let link = "\(folder.path)/link"
        symlink(path, link)
        for culprit in [folder.path, "\(folder.path)/a", "\(folder.path)/a/b"] {
            chmod(culprit, 0o777)
            for name in [path, link] {
                let error = #expect(throws: ConfigError.self) { try ConfigFile.load(path: name) }
                #expect(error?.description.contains(culprit) == true, "\(name): \(String(describing: error))")
            }
            chmod(culprit, 0o700)
        }
        #expect(try ConfigFile.load(path: link) != nil)
    }

    @Test("A missing file is no error; anything but a regular file is one, without waiting for a pipe")
    func kinds() throws {
        let folder = try TemporaryFolder()
        #expect(try ConfigFile.load(path: "\(folder.path)/none") == nil)
        let file = try folder.write("file")
        #expect(try ConfigFile.load(path: "\(file)/config") == nil)
        mkfifo("\(folder.path)/pipe", 0o600)
        for path in [folder.path, "\(folder.path)/pipe", "/dev/null"] {
            #expect(throws: ConfigError(path, nil, "it is not a regular file")) { try ConfigFile.load(path: path) }
        }
        let large = try folder.write("large", String(repeating: "#", count: (1 << 20) + 1))
        let error = #expect(throws: ConfigError.self) { try ConfigFile.load(path: large) }
        #expect(error?.path == large && error?.line == nil)
        symlink(try folder.write("target", "[a]\n"), "\(folder.path)/link")
        #expect(try ConfigFile.load(path: "\(folder.path)/link")?.profiles.count == 1)
    }
}
