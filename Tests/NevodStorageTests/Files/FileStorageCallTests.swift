import Glibc
import NevodStorage
import NevodTestSupport
import Testing

/// Tests the system calls that a value's safety depends on, by tracing them and making them fail.
struct FileStorageCallTests {
    private static let library = Result {
        let folder = try TemporaryFolder()
        _ = try Command.output([
            "cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-fPIC", "-shared",
            "\(repository)/Tests/Helpers/StorageFaults/faults.c", "-o", "\(folder.path)/faults.so", "-ldl",
        ])
        return folder
    }

    private let folder: TemporaryFolder
    private let directory: String
    private let storage: FileStorage

    init() throws {
        folder = try TemporaryFolder()
        directory = folder.makeFolder("store")
        storage = try FileStorage(directory: directory)
    }

    private func save(_ bytes: Int, failing: String = "") throws -> (result: String, calls: [String]) {
        let library = try Self.library.get()
        let trace = "\(folder.path)/trace"
        let result = try StorageChild.lastLine(
            ["save", directory, "\(bytes)"],
            environment: ["LD_PRELOAD=\(library.path)/faults.so", "NEVOD_TRACE=\(trace)", "NEVOD_FAIL=\(failing)"])
        let calls = try String(decoding: contents(of: trace), as: UTF8.self).split(separator: "\n").map(String.init)
        // Drops the loader's calls, which precede the store's first.
        return (result, calls.drop { !$0.hasPrefix("openat .lock") }.map(\.self))
    }

    @Test func `A value reaches the device before its name, and the name before the save returns`() throws {
        let (result, calls) = try save(10)
        #expect(result == "ok")
        #expect(
            calls == [
                "openat .lock any 600", "flock .lock on", "openat .new new 600", "write .new", "fsync .new",
                "renameat .new token", "fsync store", "flock .lock off",
            ])
    }

    @Test func `A partial write is continued`() async throws {
        #expect(try save(100, failing: "short 0").result == "ok")
        #expect(try await storage.data(for: "token") == [UInt8](repeating: 0x6E, count: 100))
    }

    @Test(
        arguments: ["write", "fsync", "renameat"],
        [(ENOSPC, "full"), (EDQUOT, "full"), (EIO, "unavailable"), (EROFS, "permissions")])
    func `Whichever call fails, the old value stays, and no other file`(call: String, failure: (number: Int32, code: String))
        async throws
    {
        try await storage.set([1], for: "token")
        let (result, calls) = try save(10, failing: "\(call) \(failure.number)")
        #expect(result.hasPrefix("\(failure.code): \(directory)/"))
        #expect(result.contains(String(cString: strerror(failure.number))))
        #expect(calls.contains { $0.hasPrefix("\(call) ") })
        #expect(try await storage.data(for: "token") == [1])
        #expect(access("\(directory)/.new", F_OK) != 0)
    }

    @Test func `A file system without locks is an error`() throws {
        let result = try save(10, failing: "flock \(ENOLCK)").result
        #expect(result.hasPrefix("other: \(directory)/.lock: can't be locked"))
    }
}
