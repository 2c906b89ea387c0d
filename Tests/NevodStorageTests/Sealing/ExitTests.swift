import NevodTestSupport
import Testing

struct ExitTests {
    /// A store's thread may still use OpenSSL while the program exits.
    @Test func `OpenSSL is usable until the process has ended`() throws {
        #expect(try StorageChild.lastLine(["exit", "-"]) == "usable")
    }
}
