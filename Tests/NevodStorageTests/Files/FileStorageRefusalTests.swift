import Glibc
import NevodStorage
import NevodTestSupport
import Testing

/// Tests files that a store doesn't trust, and its errors.
struct FileStorageRefusalTests {
    private let folder: TemporaryFolder
    private let directory: String
    private let storage: FileStorage

    init() throws {
        folder = try TemporaryFolder()
        directory = folder.makeFolder("store")
        storage = try FileStorage(directory: directory)
    }

    private func error(_ body: () async throws -> Void) async throws -> StorageError {
        try #require(await #expect(throws: StorageError.self) { try await body() })
    }

    @Test(arguments: [mode_t(0o750), 0o701, 0o720, 0o777, 0o1777])
    func `A folder that others can read is refused`(mode: mode_t) async throws {
        chmod(directory, mode)
        let error = try await error { try await storage.set([1], for: "a") }
        #expect(error.code == .permissions)
        #expect(
            error.description == "\(directory): is open to others (mode \(String(mode, radix: 8))); chmod 700 '\(directory)'")
        #expect(throws: error) { try FileStorage(directory: directory) }
    }

    @Test(arguments: [mode_t(0o640), 0o604, 0o620, 0o666])
    func `A file that others can read or write is refused`(mode: mode_t) async throws {
        let path = try folder.write("store/a", [1])
        chmod(path, mode)
        let error = try await error { _ = try await storage.data(for: "a") }
        #expect(error.code == .permissions)
        #expect(error.description == "\(path): is open to others (mode \(String(mode, radix: 8))); chmod 600 '\(path)'")
        await #expect(throws: error) { _ = try await storage.replace([1], with: [2], for: "a") }
        #expect(try contents(of: path) == [1])
        // A new value doesn't inherit the old one's readers.
        try await storage.set([2], for: "a")
        #expect(try await storage.data(for: "a") == [2])
    }

    @Test func `A lock file that others can open is refused`() async throws {
        let path = try folder.write("store/.lock", [])
        chmod(path, 0o666)
        #expect(try await error { try await storage.set([1], for: "a") }.subject == path)
    }

    @Test func `Files of another user are refused`() async throws {
        guard geteuid() == 0 else { return }  // Only root can give a file away.
        let path = try folder.write("store/a", [1])
        chown(path, 4242, 0)
        let file = try await error { _ = try await storage.data(for: "a") }
        #expect(file.code == .permissions && file.problem == "belongs to another user (uid 4242)")
        chown(directory, 4242, 0)
        let whole = try await error { try await storage.set([1], for: "b") }
        #expect(whole.code == .permissions && whole.subject == directory)
    }

    @Test func `A symbolic link in place of the folder is refused`() async throws {
        symlink(directory, "\(folder.path)/link")
        for path in ["\(folder.path)/link", "\(folder.path)/link/"] {
            let error = try await error { _ = try FileStorage(directory: path) }
            #expect(error.code == .damaged && error.problem.contains("symbolic link"))
        }
    }

    @Test func `A file in place of the folder is refused`() async throws {
        let path = try folder.write("file", [])
        #expect(try await error { _ = try FileStorage(directory: path) }.code == .damaged)
        #expect(try await error { _ = try FileStorage(directory: "\(path)/below") }.code == .unavailable)
    }

    @Test(arguments: ["link", "fifo", "folder"])
    func `A file that isn't regular is neither followed, nor waited for, nor replaced`(kind: String) async throws {
        let path = "\(directory)/a"
        let target = try folder.write("target", [1])
        switch kind {
        case "link": symlink(target, path)
        case "fifo": mkfifo(path, 0o600)
        default: mkdir(path, 0o700)
        }
        for body in [
            { _ = try await storage.data(for: "a") }, { try await storage.set([2], for: "a") },
            { _ = try await storage.replace(nil, with: [2], for: "a") },
        ] {
            let error = try await error(body)
            #expect(error.code == .damaged && error.subject == path)
        }
        #expect(try contents(of: target) == [1])
    }

    @Test func `A file that is longer than any value is refused`() async throws {
        let path = try folder.write("store/a", [UInt8](repeating: 1, count: FileStorage.maximumSize + 1))
        let error = try await error { _ = try await storage.data(for: "a") }
        #expect(error.code == .tooLarge && error.subject == path)
    }

    @Test func `No error's description holds a value`() async throws {
        mkdir("\(directory)/a", 0o700)
        let error = try await error { try await storage.set("s3cr3t", for: "a") }
        #expect(!"\(error) \(String(reflecting: error))".contains("s3cr3t"))
    }
}
