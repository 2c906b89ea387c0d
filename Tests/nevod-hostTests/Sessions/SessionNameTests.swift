import NevodHost
import Testing

@testable import nevod_host

@Suite struct SessionNameTests {
    private static let plain = SessionName(
        profile: "work", plugin: "CookieAuth", scheme: "cookie", origins: ["https://a.example", "https://b.example:8443"],
        settings: "0123456789abcdef",
        account: "ada")

    @Test("A key is readable and contains no secret")
    func key() {
        #expect(
            Self.plain.key.rawValue
                == "session/work/CookieAuth:cookie@https%3A%2F%2Fa.example,https%3A%2F%2Fb.example%3A8443;0123456789abcdef/ada")
    }

    @Test(
        "Any parts survive the round trip",
        arguments: ["", "/", "a/b", "@", ":", ";", ",", "%", "%2F", "ä😀", "a\nb", "session/", " ", "\u{0}"])
    func roundTrip(text: String) {
        let origins = text.isEmpty ? [] : [text, "http://x"]
        let name = SessionName(profile: text, plugin: text, scheme: text, origins: origins, settings: "00", account: text)
        #expect(SessionName(name.key) == name)
    }

    @Test("Origins that aren't in the settings are part of the key, and of all accounts' prefix")
    func furtherOrigins() throws {
        var name = Self.plain
        name.furtherOrigins = ["https://c.example", "https://;/,?"]
        name.parameters = "scope=a"
        #expect(SessionName(name.key) == name)
        #expect(name.key != Self.plain.key && name.key.rawValue.hasPrefix(Self.plain.prefix))
        #expect(SessionName(Self.plain.key)?.furtherOrigins == [])
        #expect(name.allOrigins == Self.plain.origins + name.furtherOrigins)
    }

    @Test("Different parts never give the same key")
    func unambiguous() {
        let names = [("a/b", "c", "d"), ("a", "b/c", "d"), ("a%2Fb", "c", "d"), ("a", "b", "c:d"), ("a", "b:c", "d")].map {
            SessionName(profile: $0.0, plugin: $0.1, scheme: $0.2, origins: [], settings: "00").key
        }
        #expect(Set(names).count == names.count)
    }

    @Test("Only the keys of a session's accounts have its prefix")
    func prefix() {
        #expect(Self.plain.key.rawValue.hasPrefix(Self.plain.prefix))
        for (plugin, settings) in [("CookieAuth", "0123456789abcdee"), ("Other", "0123456789abcdef")] {
            let other = SessionName(
                profile: "work", plugin: plugin, scheme: "cookie", origins: Self.plain.origins, settings: settings)
            #expect(!other.key.rawValue.hasPrefix(Self.plain.prefix))
        }
    }

    @Test(
        "A foreign key is not a session's",
        arguments: [
            "", "nevod.token", "session", "session/", "session/a/b/c", "session/a/b:c@c/d", "session/a/b:c@c;d",
            "session/a/b:c@c;d/e/f", "session/a/b@c;d/e", "session/a/b:c:d@c;d/e",
            "session/%/b:c@;d/", "session/%zz/b:c@;d/", "session/%ff/b:c@;d/", "session/a/%ff:c@;d/",
        ])
    func foreign(key: String) {
        #expect(SessionName(StorageKey(value: key)) == nil)
    }
}
