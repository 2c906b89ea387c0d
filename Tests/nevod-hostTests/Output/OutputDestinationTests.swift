import Glibc
import NevodTestSupport
import Testing

@testable import nevod_host

@Suite struct OutputDestinationTests {
    @Test("A temporary name fits the file system, and is cut between characters")
    func temporaryName() {
        #expect(OutputDestination.temporaryPrefix(for: "/a/b") == "/a/b.part.")
        #expect(OutputDestination.temporaryPrefix(for: "b") == "b.part.")
        let long = OutputDestination.temporaryPrefix(
            for: "/\(String(repeating: "d", count: 300))/\(String(repeating: "é", count: 127))")
        #expect(long == "/\(String(repeating: "d", count: 300))/\(String(repeating: "é", count: 100)).part.")
        #expect(
            OutputDestination.temporaryPrefix(for: "/a/x\(String(repeating: "é", count: 127))")
                == "/a/x\(String(repeating: "é", count: 99)).part.")
    }

    @Test("Names of own descriptors are recognized, through links")
    func descriptors() throws {
        let folder = try TemporaryFolder()
        let link = "\(folder.path)/link"
        symlink("/dev/stdout", link)
        symlink("link", "\(folder.path)/second")
        symlink("loop", "\(folder.path)/loop")
        for (path, number) in [
            ("/dev/stdout", 1), ("/dev/stderr", 2), ("/dev/fd/7", 7), ("/proc/self/fd/12", 12), ("/proc/\(getpid())/fd/3", 3),
            (link, 1), ("\(folder.path)/second", 1),
        ] as [(String, Int32)] {
            #expect(OwnDescriptor.number(of: path) == number, "\(path)")
        }
        for path in [
            "/dev/null", "/dev/fd/x", "/dev/fd/", "/proc/1/fd/1", "stdout", "\(folder.path)/loop", "/dev/fd/99999999999",
        ] {
            #expect(OwnDescriptor.number(of: path) == nil, "\(path)")
        }
    }

    @Test("A descriptor of this process's own is not written to by its number")
    func own() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("file")
        let (closing, kept) = (open(path, O_WRONLY | O_CLOEXEC), open(path, O_WRONLY))
        let reading = open(path, O_RDONLY)
        defer { for number in [closing, kept, reading] { close(number) } }
        #expect(!OwnDescriptor.isWritable(closing))
        #expect(OwnDescriptor.isWritable(kept))
        #expect(!OwnDescriptor.isWritable(reading))
        #expect(!OwnDescriptor.isWritable(9999))
    }
}
