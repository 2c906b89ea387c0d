import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

struct SchemeSettingsTests {
    private let scheme: Scheme

    init() throws {
        scheme = try TestPlugin.settings.get().scheme("settings")
    }

    /// The settings that the plugin got, in order.
    private func arrived(_ settings: SchemeSettings) throws -> [String] {
        let lines = Collected<String>()
        _ = try scheme.makeInstance(settings: settings) { _, line in lines.append(line) }
        return lines.values
    }

    private func error(_ settings: SchemeSettings) throws -> PluginError {
        try #require(throws: PluginError.self) { try scheme.makeInstance(settings: settings) }
    }

    @Test func `Declarations are read`() {
        #expect(
            scheme.settings.map(\.name) == [
                "text", "secret", "pin", "integer", "boolean", "choice", "url", "repeated", "path", "private",
            ])
        #expect(scheme.settings.map(\.kind) == [.text, .text, .integer, .integer, .boolean, .choice, .url, .text, .url, .url])
        #expect(scheme.settings.map(\.isRequired) == [true] + Array(repeating: false, count: 9))
        #expect(scheme.settings.filter(\.isSecret).map(\.name) == ["secret", "pin", "private"])
        #expect(scheme.settings.filter(\.isRepeatable).map(\.name) == ["repeated", "path"])
        #expect(scheme.settings.filter(\.mayBeRelative).map(\.name) == ["path", "private"])
        #expect(scheme.settings[5].choices == ["red", "green"])
        #expect(scheme.settings.map(\.defaultValue) == [nil, nil, nil, "-7", "true", nil, nil, nil, nil, nil])
        #expect(scheme.settings[0].help == "Any text")
        #expect(scheme.settings[1].help == "")
    }

    @Test func `Values are passed in order, followed by the defaults`() throws {
        #expect(try arrived(["text": "t"]) == ["text=t", "integer=-7", "boolean=true"])
        #expect(
            try arrived([
                "repeated": "b", "choice": "green", "text": "", "secret": .secret(Secret("s")), "pin": .secret(Secret("12")),
                "repeated": "a", "integer": "9223372036854775807", "boolean": "false", "url": "https://h/x?",
            ]) == [
                "repeated=b", "choice=green", "text=", "secret=s", "pin=12", "repeated=a", "integer=9223372036854775807",
                "boolean=false", "url=https://h/x?",
            ])
    }

    @Test func `The error for an unknown setting names the known ones`() throws {
        let error = try error(["text": "t", "nonsense": "1"])
        guard case .unknownSetting("settings", "nonsense", let valid) = error.reason else {
            Issue.record("\(error)")
            return
        }
        #expect(valid == scheme.settings.map(\.name))
        #expect("\(error)".contains("has no setting \"nonsense\"; its settings are text, secret"))
    }

    @Test func `The error for a missing setting has its help`() throws {
        let error = try error([:])
        guard case .missingSetting("settings", "text", "Any text", _) = error.reason else {
            Issue.record("\(error)")
            return
        }
        #expect("\(error)".contains("needs the setting \"text\" (Any text)"))
    }

    @Test(arguments: [
        ("text", "a\0b", "contains a NUL byte"),
        ("integer", "", "must be an integer, not \"\""),
        ("integer", "1.5", "must be an integer, not \"1.5\""),
        ("integer", " 1", "must be an integer, not \" 1\""),
        ("integer", "9223372036854775808", "must be an integer, not \"9223372036854775808\""),
        ("boolean", "yes", "must be true or false, not \"yes\""),
        ("boolean", "True", "must be true or false, not \"True\""),
        ("choice", "blue", "must be one of red, green, not \"blue\""),
        ("choice", "", "must be one of red, green, not \"\""),
        ("url", "h/x", "must be an absolute http or https URL, not \"h/x\""),
        ("url", "ftp://h/", "must be an absolute http or https URL, not \"ftp://h/\""),
        ("url", "http://h:pw/", "must be an absolute http or https URL, not \"http://h:[redacted]\""),
        (
            "url", "http://a:b@h/",
            "must be a URL without userinfo: leave out the part before the @, and give a name and a password in the scheme's own settings"
        ),
        ("pin", "1x", "must be an integer"),
    ])
    func `The error for a value of the wrong kind shows it, unless it is secret`(name: String, value: String, problem: String)
        throws
    {
        for given in [SchemeSettings.Value.text(value), .secret(Secret(value))] {
            var settings: SchemeSettings = name == "text" ? [:] : ["text": "t"]
            settings.add(name, given)
            let error = try error(settings)
            guard case .badSetting("settings", name, problem) = error.reason else {
                Issue.record("\(error)")
                return
            }
        }
    }

    @Test func `A setting is given once, unless it is repeatable`() throws {
        let error = try error(["text": "a", "text": "b"])
        guard case .badSetting(_, "text", "was given more than once") = error.reason else {
            Issue.record("\(error)")
            return
        }
        #expect(try arrived(["text": "a", "repeated": "x", "repeated": "x"]).filter { $0 == "repeated=x" }.count == 2)
    }

    /// nevod_plugin.h: "arrives as decimal digits with an optional minus".
    @Test(arguments: ["-0", "007"])
    func `An integer is passed in the contract's form`(text: String) throws {
        let values = try arrived(["text": "t", "integer": .text(text)]).filter { $0.hasPrefix("integer=") }
        #expect(!values.isEmpty && values.allSatisfy { $0.dropFirst(8).allSatisfy { "-0123456789".contains($0) } })
    }

    @Test func `An integer has no plus sign`() throws {
        let error = #expect(throws: PluginError.self) { try arrived(["text": "t", "integer": "+5"]) }
        guard case .badSetting(_, "integer", _)? = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    /// RFC 3986 §5.2, with a base whose path is a folder's.
    @Test(arguments: [
        ("https://h/wiki", "login", "https://h/wiki/login"), ("https://h/wiki/", "login?a=b", "https://h/wiki/login?a=b"),
        ("https://h/wiki", "/login", "https://h/login"), ("https://h", "a/../b", "https://h/b"),
        ("https://h/wiki?x=1#f", "?title=A/B", "https://h/wiki/?title=A/B"), ("https://h/w", ".", "https://h/w/"),
        ("http://[::1]:81/w", "../x", "http://[::1]:81/x"), ("https://h/w", "https://other/x", "https://other/x"),
        ("https://h/w", "/a//b?u=https://x", "https://h/a//b?u=https://x"),
    ])
    func `A relative URL is resolved, whatever its place`(base: String, path: String, expected: String) throws {
        let values = try arrived(["text": "t", "path": .text(path), "url": .text(base), "path": "https://third/"])
        #expect(values.filter { $0.hasPrefix("p") } == ["path=\(expected)", "path=https://third/"])
        // The log shows no secret: the host hides the value that arrived.
        let secret = try arrived(["private": .secret(Secret(path)), "text": .text("x\(expected)"), "url": .text(base)])
        #expect(secret.filter { $0.hasPrefix("private") || $0.hasPrefix("text") } == ["private=[redacted]", "text=x[redacted]"])
    }

    @Test func `A relative URL needs its base`() throws {
        let error = try error(["text": "t", "path": "login"])
        guard case .badSetting(_, "path", let problem) = error.reason else { return #expect(Bool(false), "\(error)") }
        #expect(problem == "is not an absolute URL: set \"url\", to which it is relative, or give the whole URL")
        #expect(try arrived(["text": "t", "path": "http://h/"]).contains("path=http://h/"))
    }

    @Test(arguments: ["", "//other/x", "ftp://h/", "h:81/x", "javascript:x", "/a\nb", "https://", "https:/h"])
    func `A relative URL is at the base's origin`(path: String) throws {
        let error = try error(["text": "t", "url": "https://h/", "path": .text(path)])
        guard case .badSetting(_, "path", let problem) = error.reason else { return #expect(Bool(false), "\(error)") }
        #expect(problem.hasPrefix("must be an absolute http or https URL, or a path, not "))
    }

    @Test func `A flow may send to the origin of a resolved URL`() throws {
        let instance = try scheme.makeInstance(settings: ["text": "t", "url": "https://h/w", "path": "x", "path": "http://o/"])
        #expect(instance.flowOrigins.named.map(\.description) == ["https://h", "http://o"])
    }

    @Test func `A refusal by the plugin carries the first report`() throws {
        let error = try error(["text": "t", "repeated": "refuse"])
        guard case .failed("settings", "create", 1, "repeated", "is not to the plugin's taste", let detail) = error.reason else {
            Issue.record("\(error)")
            return
        }
        #expect(detail == Secret("the-known-secret"))
        #expect("\(error)".hasSuffix(": the scheme \"settings\" needs corrected settings: repeated is not to the plugin's taste"))
    }

    @Test func `The error for an unknown status has its number`() throws {
        let instance = try scheme.makeInstance(settings: ["text": "t"])
        var request = try HTTPRequest(.get, "http://h/")
        let error = try #require(throws: PluginError.self) { try instance.authorize(&request, attempt: 1) }
        #expect(
            "\(error)".hasSuffix(
                "failed because of a fault in the plugin: no reason given; report it to the plugin's author, with the function authorize, "
                    + "which returned the unknown status 99"))
        #expect(request.headers.isEmpty)
    }
}
