import NevodTestSupport
import Testing

@testable import nevod_host

@Suite struct KitSourceTests {
    private static let revision = "0123456789abcdef0123456789ABCDEF01234567"

    @Test(
        "A URL with a tag or a revision",
        arguments: [
            (
                "https://git.example.com/a/NevodHost.git#0.2.0",
                #"url: "https://git.example.com/a/NevodHost.git", exact: "0.2.0""#, "NevodHost"
            ),
            ("file:///srv/nevod.git#v1.2.3-rc.1", #"url: "file:///srv/nevod.git", exact: "1.2.3-rc.1""#, "nevod"),
            ("git@example.com:nevod-host.git#10.0.1", #"url: "git@example.com:nevod-host.git", exact: "10.0.1""#, "nevod-host"),
            (
                "ssh://example.com/kit#\(revision)",
                #"url: "ssh://example.com/kit", revision: "0123456789abcdef0123456789abcdef01234567""#, "kit"
            ),
            (#"https://h/a"\.git#1.0.0"#, #"url: "https://h/a\"\\.git", exact: "1.0.0""#, #"a"\"#),
        ])
    func repositories(text: String, dependency: String, package: String) throws {
        let kit = try KitSource(text)
        #expect(kit.dependency == dependency)
        #expect(kit.package == package)
    }

    @Test(
        "A repository without a version or a whole revision is refused",
        arguments: [
            "https://h/a.git", "https://h/a.git#", "https://h/a.git#main", "https://h/a.git#1.2", "https://h/a.git#1.2.3.4",
            "https://h/a.git#+1.2.3", "https://h/a.git#1.2.3-", "https://h/a.git#1.2.3-é", "https://h/a.git#0123456", "#1.0.0",
            "https://h/a\n.git#1.0.0", "https://h/a.git#1.2.3-\"",
        ])
    func refused(text: String) {
        #expect(throws: UsageError.self) { try KitSource(text) }
    }

    @Test("A folder is one that holds the kit, and becomes absolute")
    func folders() throws {
        let folder = try TemporaryFolder()
        #expect(throws: UsageError.self) { try KitSource(folder.path) }
        _ = try Shell.run("mkdir -p '\(folder.path)/Sources/NevodPluginKit' && touch '\(folder.path)/Package.swift'")
        #expect(try KitSource(folder.path + "/Sources/..").dependency == #"name: "NevodHost", path: "\#(folder.path)""#)
        #expect(throws: UsageError.self) { try KitSource(folder.path + "/none") }
    }

    @Test("A text is one literal, even with a combining mark after a quote")
    func literal() {
        #expect(KitSource.literal("a\"\u{301}b\\c").unicodeScalars.elementsEqual("\"a\\\"\u{301}b\\\\c\"".unicodeScalars))
    }
}
