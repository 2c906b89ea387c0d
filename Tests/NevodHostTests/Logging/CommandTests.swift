import Glibc
import NevodTestSupport
import Testing

/// Programs started by tests must not keep other tests' descriptors.
struct CommandTests {
    @Test func `A program inherits no descriptor`() throws {
        let own = open("/dev/null", O_RDONLY)
        try #require(own >= 0)
        defer { close(own) }
        // The listed folder is itself open.
        let open = try Command.output(["ls", "/proc/self/fd"]).split(separator: "\n").compactMap { Int32($0) }
        #expect(open.max() == 3, "\(open)")
    }
}
