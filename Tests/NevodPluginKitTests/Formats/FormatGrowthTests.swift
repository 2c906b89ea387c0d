import NevodPluginKit
import NevodTestSupport
import Testing

/// Feeds texts of two sizes to the kit's parsers of server data, and limits how their time grows.
struct FormatGrowthTests {
    @Test(arguments: [
        "Basic realm=\"a\\\"\", ", "a ", "a,", "a=b,", "a b=", "a b==,", "a \"\\\"", "a b=\"\\\"", "\"", "Negotiate abc==, ",
    ])
    func `Challenges`(piece: String) throws {
        let factor = try Growth.factor(500, { String(repeating: piece, count: $0) }, { _ = Challenge.parse([$0]) })
        #expect(factor < Growth.linear, "\(piece)")
    }

    @Test func `Lines with challenges`() throws {
        let factor = try Growth.factor(500, { Array(repeating: "Digest a=\"b\", c=d", count: $0) }, { _ = Challenge.parse($0) })
        #expect(factor < Growth.linear)
    }

    @Test(arguments: ["a=b&", "%", "%4", "a", "=", "&", "%41+"])
    func `Forms`(piece: String) throws {
        let factor = try Growth.factor(500, { String(repeating: piece, count: $0) }, { _ = FormFields(parsing: $0) })
        #expect(factor < Growth.linear, "\(piece)")
    }
}
