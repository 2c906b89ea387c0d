import Glibc
import NevodTestSupport
import Testing

@testable import NevodHost

struct PathTrustTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func `A file that only its owner can write is trusted, also below a folder with the sticky bit`() throws {
        let file = try folder.write("lib.so", [1], mode: 0o755)
        #expect(PathTrust.problem(of: file) == nil)
        #expect(PathTrust.problem(of: "/bin") == nil)
        #expect(PathTrust.problem(of: "/") == nil)
    }

    @Test(arguments: [(mode_t(0o646), "everyone"), (0o666, "everyone"), (0o664, "its group")])
    func `A file that others can write is not trusted`(mode: mode_t, whom: String) throws {
        let file = try folder.write("lib.so", [1])
        chmod(file, mode)
        let found = try #require(PathTrust.problem(of: file))
        #expect(found.path == file)
        #expect(found.problem == "is writable by \(whom) (mode \(String(mode, radix: 8)))")
    }

    @Test(arguments: [mode_t(0o777), 0o770])
    func `A file below a folder that others can write is not trusted, at any depth`(mode: mode_t) throws {
        let outer = folder.makeFolder("outer", mode: mode)
        _ = folder.makeFolder("outer/inner")
        let file = try folder.write("outer/inner/lib.so", [1])
        #expect(PathTrust.problem(of: file)?.path == outer)
        chmod(outer, 0o1777)
        #expect(PathTrust.problem(of: file) == nil)
    }

    @Test func `The sticky bit counts for folders only`() throws {
        let file = try folder.write("lib.so", [1])
        chmod(file, 0o1666)
        #expect(PathTrust.problem(of: file)?.path == file)
    }

    @Test func `A missing file is not trusted`() {
        #expect(PathTrust.problem(of: "\(folder.path)/missing")?.path == "\(folder.path)/missing")
    }

    @Test func `Another user's file is not trusted`() throws {
        let file = try folder.write("lib.so", [1])
        try #require(geteuid() != 0 || chown(file, 4242, 0) == 0)
        guard geteuid() == 0 else { return }  // Only root can give a file away.
        #expect(PathTrust.problem(of: file)?.problem == "belongs to another user (uid 4242)")
    }

    @Test func `A plugin in an unsafe place is refused before it is opened`() throws {
        let file = try folder.write("lib.so", Array("not even ELF".utf8))
        chmod(file, 0o666)
        let error = try #require(throws: PluginError.self) { try Plugin(named: file) }
        guard case .unsafePermissions(let path, _) = error.reason else {
            Issue.record("\(error)")
            return
        }
        #expect(path == file)
    }
    @Test func `A path is followed through symbolic links and dots`() throws {
        _ = folder.makeFolder("a")
        let inner = folder.makeFolder("a/b")
        symlink("b/../b", "\(folder.path)/a/link")
        symlink("\(folder.path)/a/link", "\(folder.path)/absolute")
        for path in [inner, "\(folder.path)/a/link", "\(folder.path)/absolute", "\(folder.path)/./a/../absolute//"] {
            #expect(PathTrust.problem(along: path, isSearched: true) == nil)
        }
        chmod(inner, 0o777)
        #expect(PathTrust.problem(along: "\(folder.path)/absolute", isSearched: false)?.path == inner)
    }

    @Test func `A circle of links is not followed for ever`() throws {
        symlink("two", "\(folder.path)/one")
        symlink("one", "\(folder.path)/two")
        #expect(
            PathTrust.problem(along: "\(folder.path)/one", isSearched: true)?.problem == "is a symbolic link that leads nowhere")
    }

    @Test func `Others can add a file to a sticky folder, and make what is missing there`() throws {
        let sticky = folder.makeFolder("sticky", mode: 0o1777)
        _ = folder.makeFolder("sticky/inner")
        #expect(PathTrust.problem(along: "\(sticky)/inner", isSearched: true) == nil)
        #expect(PathTrust.problem(along: sticky, isSearched: true)?.path == sticky)
        #expect(PathTrust.problem(along: "\(sticky)/missing/lib.so", isSearched: false)?.path == sticky)
        #expect(PathTrust.problem(along: "\(folder.path)/missing/lib.so", isSearched: false) == nil)
    }
}
