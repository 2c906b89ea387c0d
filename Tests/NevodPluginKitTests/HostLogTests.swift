import NevodPluginKit
import NevodTestSupport
import Testing

@testable import NevodHost

struct HostLogTests {
    /// A scheme that writes its settings to the log, by mistake and on purpose.
    struct Talking: FlowScheme {
        static let id = "talking"
        static let title = "Writes to the log"

        @Setting("name", help: "Shown") var name: String
        @Setting("key", help: "Hidden") var key: Secret
        @Setting("other-key", help: "Hidden") var otherKey: Secret
        let log = HostLog()

        mutating func prepare() throws(SchemeError) { log(.info, "prepares \(name) with \(String(revealing: key))") }

        func authorize(_ request: borrowing RequestView, _ token: Secret, _ edits: Edits) {}

        func authorize(_ request: borrowing RequestView, _ edits: Edits) throws(SchemeError) {
            for level in HostLog.Level.allCases {
                log(level, "\(String(revealing: otherKey))=\(String(revealing: key)), \(name)")
            }
            log(.debug, String(repeating: "x", count: 1020) + String(revealing: key))
        }

        func login(_ flow: AuthFlow) async throws(SchemeError) -> NevodPluginKit.IssuedToken {
            log(.warning, "logs in with \(String(revealing: key))")
            return NevodPluginKit.IssuedToken(Secret("t"))
        }
    }

    private static let export = PluginExport(Talking.self, name: "Test", version: "1", vendor: "")

    @Test func `Lines reach the host without the values of secret settings`() async throws {
        let lines = Locked<[String]>([])
        let instance = try Plugin(builtIn: Self.export.table).scheme().makeInstance(
            settings: ["name": "n", "key": .secret(Secret("s3cret-Kq7")), "other-key": .text("s3cret-Kq7-longer")],
            log: { level, line in if line.isLoggedByScheme { lines.withLock { $0.append("\(level) \(line)") } } })
        #expect(lines.withLock { $0 } == ["2 prepares n with [redacted]"])
        lines.withLock { $0 = [] }
        var request = try HTTPRequest(.get, "http://h/")
        try instance.authorize(&request, attempt: 1)
        let seen = lines.withLock { $0 }
        #expect(seen.prefix(4) == (1...4).map { "\($0) [redacted]=[redacted], n" }[...])
        #expect(seen.count == 5)
        #expect(seen.allSatisfy { !$0.contains("s3c") }, "a secret that the cut goes through is hidden as a whole")
    }

    @Test func `A scheme that no host has created logs nowhere`() {
        HostLog()(.error, "nobody reads this")
    }
}
