import NevodPluginKit
import Testing

@testable import NevodHost

/// Parts of the contract that few schemes use.
struct ContractReachTests {
    struct Slow: AuthScheme {
        static let id = "slow"
        static let title = "Blocks, and draws numbers"
        static let blocks = true
        static let isNondeterministic = true
        static let authorizesProxies = true
        let host = PluginHost()

        func authorize(_ request: borrowing RequestView, _ edits: Edits) {
            if request.isForProxy {
                edits.setHeader("Proxy-Authorization", "Test")
            } else {
                let length = request.bodyLength.map { "\($0)" } ?? "unknown"
                let hasList = host.service("nevod.public-suffix/1") != nil && host.service("nevod.nothing/1") == nil
                edits.setHeader("X-Seen", "\(length) \(host.name) \(host.version) \(host.contractMinorVersion) \(hasList)")
            }
        }
    }

    struct Plain: AuthScheme {
        static let id = "plain"
        static let title = "Neither"
        func authorize(_ request: borrowing RequestView, _ edits: Edits) {}
    }

    private static let export = PluginExport(Slow.self, Plain.self, name: "Test", version: "1", vendor: "")

    @Test func `The flags of a scheme reach the host`() throws {
        let schemes = UnsafeBufferPointer(start: Self.export.table.pointee.schemes, count: 2).compactMap { $0?.pointee }
        #expect(schemes.map(\.flags) == [UInt32(NEVOD_SCHEME_BLOCKS) | UInt32(NEVOD_SCHEME_NONDETERMINISTIC), 0])
    }

    @Test func `A scheme knows its host, its target and the length of a body`() throws {
        let plugin = try Plugin(builtIn: Self.export.table)
        var request = try HTTPRequest(.post, "http://h/", body: .bytes(Array("12345".utf8)))
        try plugin.scheme("slow").makeInstance().authorize(&request, attempt: 1)
        #expect(request.headers["X-Seen"] == "5 NevodHost \(Version.literal) 0 true")

        var proxied = try HTTPRequest(.get, "http://h/")
        try plugin.scheme("slow").makeInstance(target: .proxy).authorize(&proxied, attempt: 1)
        #expect(proxied.proxyAuthorization == "Test")
        #expect(proxied.headers["X-Seen"] == nil)
    }

    @Test func `Without a host there is nothing to know`() {
        let host = PluginHost()
        #expect(host.name.isEmpty && host.version.isEmpty && host.contractMinorVersion == 0)
        #expect(host.service("nevod.public-suffix/1") == nil)
    }
}
