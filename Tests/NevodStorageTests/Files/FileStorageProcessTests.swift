import Glibc
import NevodTestSupport
import Testing

@testable import NevodStorage

/// Tests several processes that share a store. Some are killed.
@Suite(.blocking) struct FileStorageProcessTests {
    private let folder: TemporaryFolder
    private let directory: String

    init() throws {
        folder = try TemporaryFolder()
        directory = folder.makeFolder("store")
    }

    private func names() throws -> [String] {
        try Command.python("import os, sys; print(*sorted(os.listdir(sys.argv[1])), sep='\\n')", [directory])
    }

    @Test func `A process that is killed leaves the old value or the new one`() async throws {
        let rounds = Rounds("CRASH", default: 40)
        var random = rounds.random
        let storage = try FileStorage(directory: directory)
        var (done, leftovers) = (0, 0)
        for round in 0..<rounds.count {
            let (pid, pipe) = try StorageChild.spawn(["alternate", directory])
            let reader = LineReader(pipe)
            let first = reader.next()
            usleep(random.next(upperBound: 15_000))
            kill(pid, SIGKILL)
            let lines = [first].compactMap(\.self) + reader.rest()
            close(pipe)
            Command.wait(for: pid)
            let started = lines.last { $0.hasPrefix("s ") }.flatMap { Int($0.dropFirst(2)) } ?? done
            done = lines.last { $0.hasPrefix("d ") }.flatMap { Int($0.dropFirst(2)) } ?? done
            try #require(started == done || started == done + 1, "round \(round), seed \(rounds.seed): \(lines.suffix(3))")
            var info = stat()
            leftovers += lstat("\(directory)/.new", &info) == 0 ? 1 : 0
            let value = try await storage.data(for: "token")
            let isOld = value == (done == 0 ? nil : StorageChild.value(done))
            try #require(
                isOld || value == StorageChild.value(started),
                "round \(round), seed \(rounds.seed): neither \(done) nor \(started)")
            if !isOld { done = started }
        }
        print("\(done) values saved; killed with a half-written file: \(leftovers)")
        try await storage.set([1], for: "token")
        #expect(try names() == [".lock", "token"])
    }

    @Test func `Two processes that count by compare-and-swap lose nothing`() async throws {
        let times = 150
        let children = try (0..<2).map { _ in try StorageChild.spawn(["count", directory, "\(times)"]) }
        for (pid, pipe) in children {
            #expect(LineReader(pipe).rest() == ["ok"])
            close(pipe)
            Command.wait(for: pid)
        }
        #expect(try await FileStorage(directory: directory).string(for: "token") == "\(2 * times)")
    }

    @Test func `A wait for the lock is limited, and the lock ends with its holder`() async throws {
        let (pid, pipe) = try StorageChild.spawn(["hold", directory])
        defer { close(pipe) }
        #expect(LineReader(pipe).next() == "held")
        let path = "\(directory)/.lock"
        let error = #expect(throws: StorageError.self) {
            try PrivateDirectory(directory).withLock(timeout: .milliseconds(20)) { (_) throws(StorageError) in }
        }
        #expect(error?.code == .busy && error?.subject == path)
        let storage = try FileStorage(directory: directory)
        // Reading needs no lock.
        #expect(try await storage.data(for: "token") == nil)
        async let saved: Void = storage.set([1], for: "token")
        kill(pid, SIGKILL)
        Command.wait(for: pid)
        try await saved
        #expect(try await storage.data(for: "token") == [1])
    }

    @Test func `A waiter for a lock whose file was removed takes the new file's lock`() async throws {
        let (pid, pipe) = try StorageChild.spawn(["hold", directory])
        defer { close(pipe) }
        #expect(LineReader(pipe).next() == "held")
        let path = "\(directory)/.lock"
        let storage = try FileStorage(directory: directory)
        async let saved: Void = storage.set([1], for: "token")
        #expect(await eventually { isOpen(path) })
        unlink(path)
        kill(pid, SIGKILL)
        Command.wait(for: pid)
        try await saved
        #expect(try names() == [".lock", "token"])
    }

    private func isOpen(_ path: String) -> Bool {
        (0..<1024).contains { descriptor in
            var target = [CChar](repeating: 0, count: 4096)
            let count = readlink("/proc/self/fd/\(descriptor)", &target, target.count)
            return count > 0 && String(decoding: target[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self) == path
        }
    }

    @Test func `Where a file can't grow, the old value stays and the error says what to do`() async throws {
        let storage = try FileStorage(directory: directory)
        try await storage.set([1], for: "token")
        let result = try StorageChild.lastLine(["save", directory, "20000", "8192"])
        #expect(result.hasPrefix("full: \(directory)/.new: can't be written: File too large; raise the process's limit"))
        #expect(try await storage.data(for: "token") == [1])
        #expect(try names() == [".lock", "token"])
    }

    @Test func `In a folder that can't be written, the old value stays and the error says what to do`() async throws {
        let storage = try FileStorage(directory: directory)
        try await storage.set([1], for: "token")
        let user: uid_t = geteuid() == 0 ? 65534 : geteuid()
        chown("\(directory)/.lock", user, 0)
        chown(directory, user, 0)
        chmod(directory, 0o500)
        chmod(folder.path, 0o755)
        defer {
            chown(directory, geteuid(), 0)
            chmod(directory, 0o700)
        }
        let result = try StorageChild.lastLine(["save", directory, "10", "100000", "\(user)"])
        #expect(
            result
                == "permissions: \(directory): no file can be created in it: Permission denied; let this user read and write it")
        #expect(try contents(of: "\(directory)/token") == [1])
    }
}
