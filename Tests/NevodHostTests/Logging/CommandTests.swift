import Glibc
import NevodTestSupport
import Testing

/// The programs of tests must not keep what belongs to other tests.
struct CommandTests {
    @Test func `A program inherits no descriptor`() throws {
        let own = open("/dev/null", O_RDONLY)
        try #require(own >= 0)
        defer { close(own) }
        // The folder that is listed is open itself.
        let open = try Command.output(["ls", "/proc/self/fd"]).split(separator: "\n").compactMap { Int32($0) }
        #expect(open.max() == 3, "\(open)")
    }
}
