import NevodTestSupport
import Testing

struct ExitTests {
    /// A thread of a store may still use it while the program exits.
    @Test func `OpenSSL is usable until the process has ended`() throws {
        #expect(try StorageChild.lastLine(["exit", "-"]) == "usable")
    }
}
