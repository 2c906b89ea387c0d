import Glibc
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

struct SchemePresetTests {
    private let folder: TemporaryFolder
    private let scheme: Scheme
    private let locator: PresetLocator

    init() throws {
        folder = try TemporaryFolder()
        // Its settings: text (required), secret, pin (secrets), integer, boolean, choice, url, repeated.
        scheme = try TestPlugin.settings.get().scheme("settings")
        locator = PresetLocator(folders: [folder.makeFolder("own"), folder.makeFolder("system")])
        _ = (folder.makeFolder("own/settings"), folder.makeFolder("system/settings"))
    }

    private func preset(_ lines: String, mayReadEnvironment: Bool = true) throws(PresetError) -> SchemePreset {
        let text = try PresetText(Array("# Acme\n\(lines)".utf8), path: "/p", mayReadEnvironment: mayReadEnvironment)
        return try SchemePreset(text, name: "acme", path: "/p", for: scheme)
    }

    private func problem(_ lines: String) throws -> String {
        try #require(throws: PresetError.self) { try preset(lines) }.description
    }

    /// The texts of settings, in order. A secret is shown as its length.
    private func texts(_ settings: SchemeSettings) -> [String] {
        settings.values.map { name, value in
            switch value {
            case .text(let text): "\(name)=\(text)"
            case .secret(let secret): "\(name) has \(secret.count)"
            }
        }
    }

    // MARK: Finding

    @Test func `A preset is found by its name, first among the user's own`() throws {
        let system = try folder.write("system/settings/acme.preset", "# The system's\ntext = a\n")
        #expect(try SchemePreset.named("acme", for: scheme, locator: locator).path == canonicalPath(system))
        try folder.write("own/settings/acme.preset", "# Mine\ntext = b\n")
        let preset = try SchemePreset.named("acme", for: scheme, locator: locator)
        #expect(preset.title == "Mine" && preset.name == "acme" && preset.placeholders.isEmpty)
        #expect(texts(try preset.settings()) == ["text=b"])
        #expect(SchemePreset.names(for: scheme, locator: locator) == ["acme"])
        #expect(locator.schemes == ["settings"])
    }

    @Test(arguments: ["acme2", "", "../settings/acme", "Acme", "acme.preset", "/etc/passwd", "a\u{0}b"])
    func `An unknown name lists the known ones, and no name leaves the folders`(name: String) throws {
        try folder.write("own/settings/acme.preset", "# A\ntext = a\n")
        try folder.write("system/settings/zenith.preset", "# Z\ntext = z\n")
        try folder.write("own/settings/NOTES.preset", "no preset")
        let error = try #require(throws: PresetError.self) { try SchemePreset.named(name, for: scheme, locator: locator) }
        guard case .unknown("settings", ["acme", "zenith"]) = error.reason else { throw error }
        #expect("\(error)".contains("its presets are acme, zenith"))
    }

    @Test func `A file is read at its path`() throws {
        let path = try folder.write("mine.preset", "# Mine\ntext = a\n")
        let preset = try SchemePreset.file(path, for: scheme)
        #expect(preset.name == "mine")
        #expect(texts(try preset.settings()) == ["text=a"])
        let error = try #require(throws: PresetError.self) { try SchemePreset.file("\(folder.path)/none", for: scheme) }
        #expect("\(error)".contains("no such file"))
        #expect(throws: PresetError.self) { try SchemePreset.file(folder.path, for: scheme) }
        try folder.write("environment.preset", "# E\ntext = env:HOME\n")
        #expect(throws: PresetError.self) { try SchemePreset.file("\(folder.path)/environment.preset", for: scheme) }
        try folder.write("machine.preset", "# M\nurl = http://169.254.169.254/identity\n")
        let machine = try #require(throws: PresetError.self) {
            try SchemePreset.file("\(folder.path)/machine.preset", for: scheme)
        }
        #expect(
            "\(machine)".contains("machine.preset:2: an address that tells this machine's identity is for presets that are found")
        )
    }

    @Test func `A file that others can change is not used`() throws {
        let path = try folder.write("own/settings/acme.preset", "# A\ntext = a\n", mode: 0o666)
        let error = try #require(throws: PresetError.self) { try SchemePreset.named("acme", for: scheme, locator: locator) }
        guard case .unsafePermissions(path, _) = error.reason else { throw error }
        chmod(path, 0o644)
        chmod("\(folder.path)/own", 0o777)
        let second = try #require(throws: PresetError.self) { try SchemePreset.named("acme", for: scheme, locator: locator) }
        guard case .unsafePermissions("\(folder.path)/own", _) = second.reason else { throw second }
    }

    @Test(.timeLimit(.minutes(1))) func `A pipe is not waited for`() throws {
        let path = "\(folder.path)/pipe.preset"
        try #require(mkfifo(path, 0o600) == 0)
        #expect(throws: PresetError.self) { try SchemePreset.file(path, for: scheme) }
    }

    // MARK: What a preset may set

    @Test(arguments: [
        ("nonsense = a", "/p:2: the scheme \"settings\" has no setting \"nonsense\""),
        ("secret = hunter2", "/p:2: secret is a secret, and a preset holds none"), ("pin = 12", "pin is a secret"),
        ("text = a\ntext = b", "/p:3: text was given in a line above"), ("integer = x", "/p:2: integer must be an integer"),
        ("choice = blue", "must be one of red, green"), ("boolean = yes", "must be true or false"),
        ("url = http://acme.example", "/p:2: url must begin with https://"),
        ("url = http://127.0.0.1", "must begin with https://"),
        ("url = http://169.254.169.254.example.com", "must begin with https://"),
        ("url = http://169.254.1.evil", "must begin with"), ("url = http://169.254.1.2.3", "must begin with"),
        ("url = ftp://acme.example", "must be an absolute http or https URL"),
        ("url = https://a:b@acme.example", "without userinfo"),
        ("{a} = A\nurl = http://{a}", "/p:3: url must begin with https://"), ("{a} = A\nurl = {a}", "must begin with https://"),
        ("{text} = A\nurl = https://{text}", "/p:2: text is the name of a setting"),
    ])
    func `What the scheme can't take, and what isn't safe, is refused`(lines: String, fragment: String) throws {
        let problem = try problem(lines)
        #expect(problem.contains(fragment) && !problem.contains("hunter2"), "\(problem)")
    }

    @Test(arguments: ["https://acme.example", "http://169.254.169.254/latest", "http://169.254.1/a"])
    func `A URL is https or of a link-local address`(url: String) throws {
        #expect(throws: Never.self) { try preset("url = \(url)") }
        // The clouds document only the dotted form.
        #expect(throws: PresetError.self) { try preset("url = http://[::ffff:a9fe:a9fe]") }
    }

    // MARK: Settings

    @Test func `Given settings replace the preset's of the same name`() throws {
        let preset = try preset("text = a\ninteger = 1\nchoice = red")
        #expect(
            texts(try preset.settings(["integer": "2", "secret": .secret(Secret("s"))])) == [
                "text=a", "choice=red", "integer=2", "secret has 1",
            ])
        #expect(preset.settingNames == ["text", "integer", "choice"])
    }

    @Test func `Of pairs only those of the same name are replaced`() throws {
        let preset = try preset("text = t\nrepeated = access_type=offline\nrepeated = prompt=consent\nrepeated = Metadata: true")
        let all = ["text=t", "repeated=access_type=offline", "repeated=prompt=consent", "repeated=Metadata: true"]
        #expect(texts(try preset.settings()) == all)
        #expect(texts(try preset.settings(["repeated": "hd=example.com"])) == all + ["repeated=hd=example.com"])
        #expect(
            texts(try preset.settings(["repeated": "prompt=none", "repeated": "Metadata: false"]))
                == ["text=t", "repeated=access_type=offline", "repeated=prompt=none", "repeated=Metadata: false"])
        #expect(texts(try preset.settings(["repeated": "prompts=none"])) == all + ["repeated=prompts=none"])
    }

    @Test func `Of other values all are replaced`() throws {
        let preset = try preset("repeated = https://a.example\nrepeated = b")
        #expect(texts(try preset.settings(["repeated": "https://c.example"])) == ["repeated=https://c.example"])
    }

    @Test func `Placeholders are filled`() throws {
        let preset = try preset(
            "{host} = The host\n{realm} = The realm\nurl = https://{host}/realms/{realm}\ntext = {realm}@{host}")
        #expect(
            texts(try preset.settings(["host": "login.example.com:8443", "realm": "master", "integer": "1"]))
                == ["url=https://login.example.com:8443/realms/master", "text=master@login.example.com:8443", "integer=1"])
    }

    @Test func `What a placeholder needs is asked for by name, unless no line needs it`() throws {
        let preset = try preset("{host} = The host\n{realm} = The realm\nurl = https://{host}/realms/{realm}\ntext = a")
        let error = try #require(throws: PresetError.self) { try preset.settings(["host": "h"]) }
        #expect("\(error)" == "the preset \"acme\" needs \"realm\" (The realm) among the settings")
        #expect(texts(try preset.settings(["url": "http://127.0.0.1/"])) == ["text=a", "url=http://127.0.0.1/"])
    }

    @Test(
        arguments: [["host": "https://evil.example"], ["host": "h", "host": "h"], ["host": .secret(Secret("hunter2"))]]
            as [SchemeSettings])
    func `A value that can't stand for a placeholder is refused, and not shown`(given: SchemeSettings) throws {
        let preset = try preset("{host} = The host\nurl = https://{host}")
        let error = try #require(throws: PresetError.self) { try preset.settings(given) }
        guard case .badValue("host", "The host", _) = error.reason else { throw error }
        #expect(!"\(error)".contains("evil") && !"\(error)".contains("hunter2"))
    }

    @Test func `The URL that a placeholder makes is checked`() throws {
        let preset = try preset("{host} = The host\nurl = https://{host}.example.com")
        let error = try #require(throws: PresetError.self) { try preset.settings(["host": "evil.example:443"]) }
        // The file is not to blame, and the value isn't shown.
        #expect("\(error)" == "\"host\" of the preset \"acme\" (The host) doesn't make a valid url in line 3 of /p")
    }

    @Test func `A template of the scheme keeps its own placeholders`() throws {
        let preset = try preset("{region} = The region\ntext = {method}\\n{region}\\n{path}")
        #expect(texts(try preset.settings(["region": "eu-1"])) == ["text={method}\\neu-1\\n{path}"])
    }

    @Test func `A variable of the environment is read when the preset is used`() throws {
        let preset = try preset("text = a\nsecret = env:ACME_TOKEN\nurl = env:ACME_URL")
        let error = try #require(throws: PresetError.self) {
            try preset.settings(["url": "https://a.example"], environment: { _ in nil })
        }
        guard case .unsetVariable("secret", "ACME_TOKEN") = error.reason else { throw error }
        // A platform may name a service of this machine, which has no certificate.
        let variables = ["ACME_TOKEN": "hunter2", "ACME_URL": "http://127.0.0.1:41/msi"]
        let settings = try preset.settings([:], environment: { variables[$0] })
        #expect(texts(settings) == ["text=a", "secret has 7", "url=http://127.0.0.1:41/msi"])
    }

    @Test(arguments: ["http://tokens.example.com/hunter2", "hunter2"])
    func `A URL in a variable is checked as one in a preset`(value: String) throws {
        let preset = try preset("text = a\nurl = env:ACME_URL")
        let error = try #require(throws: PresetError.self) { try preset.settings([:], environment: { _ in value }) }
        guard case .badValue("ACME_URL", _, _) = error.reason else { throw error }
    }

    @Test func `Fields of a header are one, however their names are written`() throws {
        let preset = try preset("text = t\nrepeated = Metadata: true\nrepeated = Key=a")
        #expect(
            texts(try preset.settings(["repeated": "metadata: false", "repeated": "key=b"]))
                == ["text=t", "repeated=Key=a", "repeated=metadata: false", "repeated=key=b"])
    }

    @Test func `What is still missing depends on what is given`() throws {
        let preset = try preset("{host} = The host\n{realm} = The realm\nurl = https://{host}/{realm}\ntext = {realm}")
        #expect(preset.missingPlaceholders([:]).map(\.name) == ["host", "realm"])
        #expect(preset.missingPlaceholders(["url": "https://a.example", "host": "h"]).map(\.name) == ["realm"])
        #expect(preset.missingPlaceholders(["url": "https://a.example", "text": "t"]).isEmpty)
        #expect(throws: PresetError.self) { try preset.check("https://h", for: "host") }
        #expect(throws: Never.self) { try preset.check("h.example", for: "host") }
    }

    @Test func `An empty text is written out`() throws {
        #expect(texts(try preset("text = text:").settings()) == ["text="])
    }

    @Test func `The settings make an instance`() throws {
        let lines = Collected<String>()
        let settings = try preset("text = a\nchoice = red").settings(["integer": "2"])
        _ = try scheme.makeInstance(settings: settings) { _, line in lines.append(line) }
        #expect(lines.values == ["text=a", "choice=red", "integer=2", "boolean=true"])
    }
}
