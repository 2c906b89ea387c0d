import NevodPluginKit
import Testing

@testable import NevodHost

/// Tests a scheme in Swift as an author would write it, loaded by the host through the contract.
struct PluginExportTests {
    enum Colour: String, CaseIterable, SettingValue {
        case red
        case green = "dark-green"
    }

    struct Everything: AuthScheme {
        static let id = "everything"
        static let title = "Every kind of setting"

        @Setting("text", help: "Any text") var text: String
        @Setting("text-default", default: "fallback", help: "") var textDefault: String
        @Setting("text-optional", help: "") var textOptional: String?
        @Setting("integer", default: -7, help: "") var integer: Int
        @Setting("integer-optional", help: "") var integerOptional: Int?
        @Setting("boolean", default: true, help: "") var boolean: Bool
        @Setting("choice", default: .green, help: "Which") var choice: Colour
        @Setting("choice-optional", help: "") var choiceOptional: Colour?
        @Setting("list", help: "") var list: [String]
        @Setting("numbers", help: "") var numbers: [Int]
        @Setting("secret", help: "Key") var secret: Secret
        @Setting("secret-optional", help: "") var secretOptional: Secret?
        @Setting("secrets", help: "") var secrets: [Secret]

        private var prepared = ""

        mutating func prepare() throws(SchemeError) {
            switch text {
            case "refuse": throw .badSetting("text", "is not to the scheme's taste")
            case "break": throw .internal("something broke", detail: "sensitive")
            default: prepared = "prepared \(text)"
            }
        }

        var needs: Needs { [.headers, .body, .random, .useCount, .sha384] }

        func authorize(_ request: borrowing RequestView, _ edits: Edits) throws(SchemeError) {
            if text == "unsupported" { throw .unsupported("not on a Sunday") }
            if text == "internal" { throw .internal("a fault", detail: "sensitive") }
            edits.setHeader("X-Prepared", prepared)
            edits.setHeader(
                "X-Values",
                """
                \(text) \(textDefault) \(textOptional ?? "-") \(integer) \(integerOptional.map(String.init) ?? "-") \(boolean) \
                \(choice) \(choiceOptional.map(\.rawValue) ?? "-") \(list) \(numbers) \(secrets.count)
                """)
            edits.setHeader("X-Secret" as String, secret)
            if let secretOptional { edits.addHeader("X-Secret", secretOptional) }
            edits.addQueryItem("k", "v&")
            edits.addCookie("c", "d")
            edits.addCookie(Array("e".utf8), Array("f g".utf8).span)

            var seen = "\(Self.string(request.method)) \(Self.string(request.scheme)) \(Self.string(request.authority)) "
            seen += "\(Self.string(request.target)) \(Self.string(request.path)) \(request.hasBody) \(request.body.count) "
            seen +=
                "\(request.bodyDigest(.sha384)?.count ?? -1) \(request.bodyDigest(.sha256)?.count ?? -1) \(request.random.count) "
            seen += "\(request.unixSeconds) \(request.unixNanoseconds) \(request.attempt) \(request.useCount)"
            edits.setHeader("X-Seen", seen)
            var lines: [String] = []
            request.forEachHeader { lines.append("\(Self.string($0))=\(Self.string($1))") }
            edits.setHeader("X-Lines", lines.joined(separator: "|"))
        }

        private static func string(_ bytes: Span<UInt8>) -> String {
            String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
        }
    }

    struct Plain: AuthScheme {
        static let id = "plain"
        static let title = "Nothing to set"
        func authorize(_ request: borrowing RequestView, _ edits: Edits) { edits.setHeader("X-Plain", [49, 50].span) }
    }

    private static let export = PluginExport(Everything.self, Plain.self, name: "Test", version: "1.2.3", vendor: "Vendor")

    private let plugin: Plugin

    init() throws {
        plugin = try Plugin(builtIn: Self.export.table)
    }

    private func authorized(_ settings: SchemeSettings, _ request: HTTPRequest? = nil) throws -> HTTPRequest {
        var request = try request ?? HTTPRequest(.get, "http://h/")
        let clock = HostClock { 1_700_000_000_999_999_999 }
        try plugin.scheme("everything").makeInstance(settings: settings, clock: clock).authorize(&request, attempt: 2)
        return request
    }

    private func error(_ text: String) throws -> PluginError {
        try #require(throws: PluginError.self) { try authorized(["text": .text(text), "secret": "s"]) }
    }

    @Test func `The plugin describes itself and its schemes`() throws {
        #expect(plugin.path == "built in")
        #expect([plugin.name, plugin.version, plugin.vendor] == ["Test", "1.2.3", "Vendor"])
        #expect(plugin.schemes.map(\.id) == ["everything", "plain"])
        #expect(plugin.schemes.map(\.title) == ["Every kind of setting", "Nothing to set"])
        #expect(plugin.schemes[1].settings.isEmpty)
        let error = #expect(throws: PluginError.self) { try plugin.scheme() }
        guard case .schemeNotChosen(offered: ["everything", "plain"])? = error?.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `Settings are declared as in the table`() throws {
        let settings = try plugin.scheme("everything").settings
        #expect(
            settings.map(\.name) == [
                "text", "text-default", "text-optional", "integer", "integer-optional", "boolean", "choice", "choice-optional",
                "list",
                "numbers", "secret", "secret-optional", "secrets",
            ])
        #expect(
            settings.map(\.kind) == [
                .text, .text, .text, .integer, .integer, .boolean, .choice, .choice, .text, .integer, .text, .text, .text,
            ])
        #expect(settings.filter(\.isRequired).map(\.name) == ["text", "secret"])
        #expect(settings.filter(\.isSecret).map(\.name) == ["secret", "secret-optional", "secrets"])
        #expect(settings.filter(\.isRepeatable).map(\.name) == ["list", "numbers", "secrets"])
        #expect(
            settings.map(\.defaultValue) == [nil, "fallback", nil, "-7", nil, "true", "dark-green"]
                + Array(repeating: nil, count: 6))
        #expect(settings.filter { !$0.choices.isEmpty }.map(\.choices) == [["red", "dark-green"], ["red", "dark-green"]])
        #expect(settings.first?.help == "Any text")
    }

    @Test func `Defaults are used for settings that are not given`() throws {
        let request = try authorized(["text": "t", "secret": "s"])
        #expect(request.headers["X-Values"] == "t fallback - -7 - true green - [] [] 0")
        #expect(request.headers["X-Prepared"] == "prepared t")
        #expect(request.headers.values(of: "X-Secret") == ["s"])
    }

    @Test func `Settings reach the scheme`() throws {
        let request = try authorized([
            "list": "b", "text": "ä t", "text-default": "x", "text-optional": "o", "integer": "9223372036854775807",
            "integer-optional": "0", "boolean": "false", "choice": "red", "choice-optional": "dark-green", "list": "a",
            "numbers": "1",
            "numbers": "-2", "secret": .secret(Secret("s1")), "secret-optional": .secret(Secret("s2")), "secrets": "x",
            "secrets": "y",
        ])
        #expect(
            request.headers["X-Values"]
                == "ä t x o 9223372036854775807 0 false red dark-green [\"b\", \"a\"] [1, -2] 2")
        #expect(request.headers.values(of: "X-Secret") == ["s1", "s2"])
        #expect(request.target == "/?k=v%26")
        #expect(request.headers["Cookie"] == "c=d; e=f g")
    }

    @Test func `The view reaches the scheme`() throws {
        var request = try HTTPRequest(.post, "https://h:8443/a%2Fb?x=1?", body: .bytes([1, 2, 3]))
        request.materialize()
        let sent = try authorized(["text": "t", "secret": "s"], request)
        #expect(
            sent.headers["X-Seen"]
                == "POST https h:8443 /a%2Fb?x=1? /a%2Fb true 3 48 -1 32 1700000000 1700000000999999999 2 0")
        #expect(sent.headers["X-Lines"] == "Host=h:8443|Content-Length=3")
        let empty = try authorized(["text": "t", "secret": "s"])
        #expect(empty.headers["X-Seen"] == "GET http h / / false 0 -1 -1 32 1700000000 1700000000999999999 2 0")
    }

    @Test func `The view has only what the scheme needs`() throws {
        var request = try HTTPRequest(.get, "http://h/")
        try plugin.scheme("plain").makeInstance().authorize(&request, attempt: 1)
        #expect(request.headers["X-Plain"] == "12")
    }

    @Test(arguments: [
        ("refuse", "create", Int32(1), "text", "is not to the scheme's taste", false),
        ("break", "create", 6, "", "something broke", true),
        ("unsupported", "authorize", 5, "", "not on a Sunday", false),
        ("internal", "authorize", 6, "", "a fault", true),
    ])
    func `Errors reach the host with status, subject and message`(
        text: String, function: String, status: Int32, subject: String, message: String, hasDetail: Bool
    )
        throws
    {
        let error = try error(text)
        guard case .failed("everything", function, status, subject, message, let detail) = error.reason else {
            Issue.record("\(error)")
            return
        }
        #expect(detail == (hasDetail ? Secret("sensitive") : nil))
        #expect(!"\(error)".contains("sensitive"))
    }

    final class Canary: Sendable {}

    struct Held: AuthScheme {
        static let id = "held"
        static let title = "Holds an object"
        // Accessed by one test only.
        nonisolated(unsafe) static weak var made: Canary?
        private var canary: Canary?
        mutating func prepare() {
            let made = Canary()
            canary = made
            Self.made = made
        }
        func authorize(_ request: borrowing RequestView, _ edits: Edits) {}
    }

    private static let held = PluginExport(Held.self, name: "Held", version: "1", vendor: "")

    @Test func `A scheme is destroyed with its instance`() throws {
        let plugin = try Plugin(builtIn: Self.held.table)
        var instance: SchemeInstance? = try plugin.scheme().makeInstance()
        #expect(Held.made != nil)
        _ = instance
        instance = nil
        #expect(Held.made == nil)
    }

    struct Lists: AuthScheme {
        static let id = "lists"
        static let title = "A list with a default"
        @Setting("list", default: ["a", "b"], help: "") var list: [String]
        @Setting("maybe", default: "m", help: "") var maybe: String?
        func authorize(_ request: borrowing RequestView, _ edits: Edits) { edits.setHeader("X-List", "\(list) \(maybe ?? "-")") }
    }

    private static let lists = PluginExport(Lists.self, name: "Lists", version: "1", vendor: "")

    @Test func `Lists and optionals have their defaults`() throws {
        let plugin = try Plugin(builtIn: Self.lists.table)
        func list(_ settings: SchemeSettings) throws -> String? {
            var request = try HTTPRequest(.get, "http://h/")
            try plugin.scheme().makeInstance(settings: settings).authorize(&request, attempt: 1)
            return request.headers["X-List"]
        }
        #expect(try list(["list": "x", "maybe": "y"]) == "[\"x\"] y")
        #expect(try list([:]) == "[\"a\", \"b\"] m")
    }
}
