import NevodPluginKit
import Testing

@testable import NevodHost

/// A scheme's access to the host's list.
struct PublicSuffixesTests {
    struct Asking: AuthScheme {
        static let id = "asking"
        static let title = "Asks for a public suffix"

        @Setting("domain", help: "Which") var domain: String
        let publicSuffixes = PublicSuffixes()
        private var prepared = ""

        mutating func prepare() { prepared = publicSuffixes.contains(domain).map(String.init) ?? "unknown" }

        func authorize(_ request: borrowing RequestView, _ edits: Edits) {
            edits.setHeader("X-Result", "\(prepared) \(publicSuffixes.contains(domain).map(String.init) ?? "unknown")")
        }
    }

    private static let export = PluginExport(Asking.self, name: "Test", version: "1", vendor: "")

    @Test(arguments: [
        ("com", true), ("co.uk", true), ("github.io", true), ("localhost", true), ("foo.ck", true), ("xn--55qx5d.cn", true),
        ("example.com", false), ("me.github.io", false), ("www.ck", false),
        ("", true), ("a b.example.com", true), ("example.com\u{1}", true), ("example.com/", true), ("münchen.example", true),
        (String(repeating: "a.", count: 126) + "com", true),
    ])
    func `Public suffixes are those of the host`(domain: String, isPublic: Bool) throws {
        let instance = try Plugin(builtIn: Self.export.table).scheme().makeInstance(settings: ["domain": .text(domain)])
        var request = try HTTPRequest(.get, "http://h/")
        try instance.authorize(&request, attempt: 1)
        #expect(request.headers["X-Result"] == "\(isPublic) \(isPublic)")
    }

    @Test func `Without a list of the host nothing is known`() {
        let table = Self.export.table.pointee.schemes[0]!.pointee
        for find in [nil, { _, _ in nil } as @convention(c) (UnsafeMutableRawPointer?, nevod_bytes) -> UnsafeRawPointer?] {
            var host = nevod_host()
            host.struct_size = UInt32(MemoryLayout<nevod_host>.size)
            host.get_extension = find
            var instance: UnsafeMutableRawPointer?
            let lent = Lent()
            var value = nevod_pair(name: lent.bytes("domain"), value: lent.bytes("example.com"))
            let (status, _) = FlowHost.Report.collect {
                table.create(Self.export.table.pointee.schemes[0], &host, &value, 1, &instance, $0)
            }
            #expect(status == NEVOD_OK)
            var view = nevod_view()
            var result = ""
            withUnsafeMutablePointer(to: &result) { place in
                var edits = nevod_edits()
                edits.host = UnsafeMutableRawPointer(place)
                edits.set_header = { host, _, value in
                    host!.assumingMemoryBound(to: String.self).pointee = String(
                        decoding: UnsafeBufferPointer(start: value.data, count: Int(value.count)), as: UTF8.self)
                    return 0
                }
                _ = FlowHost.Report.collect { table.authorize(instance, nil, &view, &edits, $0) }
            }
            #expect(result == "unknown unknown")
            table.destroy(instance)
            withExtendedLifetime(lent) {}
        }
    }
}
