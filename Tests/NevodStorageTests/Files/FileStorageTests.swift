import Glibc
import NevodStorage
import NevodTestSupport
import Testing

struct FileStorageTests {
    private let folder: TemporaryFolder
    private let directory: String
    private let storage: FileStorage

    init() throws {
        folder = try TemporaryFolder()
        directory = "\(folder.path)/state/app"
        storage = try FileStorage(directory: directory)
    }

    private func mode(_ path: String) -> mode_t? {
        var info = stat()
        return lstat(path, &info) == 0 ? info.st_mode & 0o7777 : nil
    }

    @Test func `A value is readable until it is removed, also by another store on the same folder`() async throws {
        let other = try FileStorage(directory: "\(directory)//")
        #expect(try await storage.data(for: "a") == nil)
        for value: [UInt8] in [[1, 2, 0, 255], [], [UInt8](repeating: 7, count: FileStorage.maximumSize), [3]] {
            try await storage.set(value, for: "a")
            #expect(try await other.data(for: "a") == value)
        }
        try await storage.set("tökén", for: "b")
        #expect(try await other.string(for: "b") == "tökén")
        #expect(try await other.data(for: "a") == [3])
        try await other.remove(for: "a")
        try await other.remove(for: "a")
        try await other.set(nil as [UInt8]?, for: "b")
        #expect(try await storage.data(for: "a") == nil)
        #expect(try await storage.string(for: "b") == nil)
    }

    @Test func `Folders have mode 0700, files 0600, and no other files exist`() async throws {
        try await storage.set([1], for: "../Token")
        try await storage.set([2], for: "../Token")
        #expect(mode("\(folder.path)/state") == 0o700)
        #expect(mode(directory) == 0o700)
        #expect(mode("\(directory)/%2e.%2f%54oken") == 0o600)
        #expect(mode("\(directory)/.lock") == 0o600)
        let names = try Command.python("import os, sys; print(*sorted(os.listdir(sys.argv[1])), sep='\\n')", [directory])
        #expect(names == ["%2e.%2f%54oken", ".lock"])
    }

    @Test func `A value is replaced only if it is the expected one`() async throws {
        #expect(try await storage.replace(nil, with: [1], for: "a"))
        #expect(try await !storage.replace(nil, with: [2], for: "a"))
        #expect(try await !storage.replace([2], with: [3], for: "a"))
        #expect(try await storage.data(for: "a") == [1])
        #expect(try await storage.replace([1], with: [], for: "a"))
        #expect(try await !storage.replace(nil, with: [3], for: "a"))
        #expect(try await storage.replace([], with: nil, for: "a"))
        #expect(try await storage.data(for: "a") == nil)
        #expect(try await storage.replace(nil, with: nil, for: "a"))
    }

    @Test func `A value that is too long is refused, and the old one stays`() async throws {
        try await storage.set([1], for: "a")
        let error = await #expect(throws: StorageError.self) {
            try await storage.set([UInt8](repeating: 0, count: FileStorage.maximumSize + 1), for: "a")
        }
        #expect(error?.code == .tooLarge)
        #expect(error?.description.contains("1048577 bytes, more than 1048576") == true)
        #expect(try await storage.data(for: "a") == [1])
    }

    @Test func `A half-written file of a killed process is removed by the next write`() async throws {
        for write in [{ try await storage.set([1], for: "a") }, { try await storage.remove(for: "a") }] {
            try folder.write("state/app/.new", [9, 9])
            try await write()
            #expect(mode("\(directory)/.new") == nil)
        }
    }

    @Test func `A relative path is resolved when the store is made`() async throws {
        let name = "nevod-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        let relative = try FileStorage(directory: name)
        try await relative.set([5], for: "a")
        let working = try #require(
            getcwd(nil, 0).map { path in
                defer { free(path) }
                return String(cString: path)
            })
        let absolute = try FileStorage(directory: "\(working)/\(name)")
        #expect(try await absolute.data(for: "a") == [5])
        try await absolute.remove(for: "a")
        unlink("\(working)/\(name)/.lock")
        #expect(rmdir("\(working)/\(name)") == 0)
    }

    @Test(arguments: ["", "a\0b"])
    func `An invalid path is refused`(path: String) {
        let error = #expect(throws: StorageError.self) { try FileStorage(directory: path) }
        #expect(error?.code == .other && error?.subject == path)
    }

    @Test func `A missing folder is an error, until it is back`() async throws {
        try await storage.set([1], for: "a")
        #expect(rename(directory, "\(directory).away") == 0)
        let error = await #expect(throws: StorageError.self) { try await storage.data(for: "a") }
        #expect(error?.code == .unavailable && error?.systemCode == ENOENT && error?.subject == directory)
        #expect(rename("\(directory).away", directory) == 0)
        #expect(try await storage.data(for: "a") == [1])
    }
}
