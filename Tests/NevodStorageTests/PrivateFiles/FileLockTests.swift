import Glibc
import NevodTestSupport
import Testing

@testable import NevodStorage

struct FileLockTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = "\(folder.path)/lock"
    }

    private func lock(within time: Duration = .milliseconds(20)) throws(StorageError) -> FileLock {
        try FileLock(path, until: .now + time)
    }

    @Test func `A lock excludes others in the same process until it is released`() throws {
        var held: FileLock? = try lock()
        let error = #expect(throws: StorageError.self) { try lock() }
        #expect(error?.code == .busy)
        #expect(error?.description == "\(path): is locked by another process; find it with: fuser '\(path)'")
        withExtendedLifetime(held) {}
        held = nil
        _ = try lock()
        var info = stat()
        #expect(lstat(path, &info) == 0 && info.st_mode & 0o7777 == 0o600)
    }

    @Test func `A lock whose file was removed doesn't lock the next file`() throws {
        let old = try lock()
        unlink(path)
        let new = try lock()
        #expect(throws: StorageError.self) { try lock() }
        withExtendedLifetime((old, new)) {}
    }

    @Test func `A file that others could lock, or that isn't a regular file, is refused`() throws {
        try folder.write("lock", mode: 0o644)
        let refusal = StorageError(.permissions, path, problem: "is open to others (mode 644)", remedy: "chmod 600 '\(path)'")
        #expect(throws: refusal) { try lock() }
        for make in [{ mkdir(path, 0o700) }, { mkfifo(path, 0o600) }, { symlink("/dev/null", path) }] {
            remove(path)
            #expect(make() == 0)
            let error = #expect(throws: StorageError.self) { try lock() }
            #expect(error?.code == .damaged && error?.problem == "is not a regular file")
        }
    }

    @Test func `A file keeps its identity under another name, and a file in its place has another one`() throws {
        try folder.write("a", "1")
        let identity = try #require(FileIdentity(at: "\(folder.path)/a"))
        rename("\(folder.path)/a", "\(folder.path)/b")
        try folder.write("a", "2")
        try folder.write("b", "longer")
        #expect(identity.isSame(as: FileIdentity(at: "\(folder.path)/b")))
        #expect(!identity.isSame(as: FileIdentity(at: "\(folder.path)/a")))
        #expect(!identity.isSame(as: nil) && FileIdentity(at: "\(folder.path)/c") == nil && FileIdentity(-1) == nil)
    }

    @Test(arguments: [
        ("/a/b", "/a", "b"), ("/a", "/", "a"), ("a/b/c", "a/b", "c"), ("a", nil, "a"), ("/", "/", ""), ("a/", "a", ""),
        ("/a/\u{301}b", "/a", "\u{301}b"),
    ])
    func `A path has a folder and a name, whatever the name begins with`(path: String, folder: String?, name: String) {
        #expect(path.parentFolder == folder)
        #expect(Array(path.fileName.utf8) == Array(name.utf8))
    }
}
