import NevodTestSupport
import Testing

// AddressSanitizer looks for leaks at exit, and needs OpenSSL's clean-up to tell them from what OpenSSL keeps.
#if !NEVOD_ADDRESS_SANITIZER
    struct ExitTests {
        /// A thread of a store may still use it while the program exits.
        @Test func `OpenSSL is usable until the process has ended`() throws {
            #expect(try StorageChild.lastLine(["exit", "-"]) == "usable")
        }
    }
#endif
