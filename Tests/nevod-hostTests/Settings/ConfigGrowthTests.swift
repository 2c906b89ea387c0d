import NevodTestSupport
import Testing

@testable import nevod_host

struct ConfigGrowthTests {
    @Test func `The time for a config file grows with its profiles, not faster`() throws {
        let factor = try Growth.factor(
            500, { size in (0..<size).map { "[\($0)]\nlocation\n" }.joined() },
            { _ = try ConfigFile(path: "config", bytes: Array($0.utf8)) })
        #expect(factor < Growth.linear)
    }

    @Test(arguments: ["{\"a\":[1,\"\u{202E}\\u00e9\"]},", "[],", "\"\u{9B}\","])
    func `The time to show JSON grows with its size, not faster`(part: String) throws {
        let factor = try Growth.factor(
            500, { Array("[\(String(repeating: part, count: $0))0]".utf8) },
            { _ = try #require(JSONFormatter(inColour: true).format($0)) })
        #expect(factor < Growth.linear)
    }
}
