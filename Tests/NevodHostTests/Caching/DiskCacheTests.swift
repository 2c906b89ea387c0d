import Glibc
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodStorage

/// Tests what a cache on disk keeps, for whom, and for how long.
@Suite(.blocking) struct DiskCacheTests {
    @Test func `A response outlasts the process, and is validated once it is stale`() async throws {
        let fixture = try DiskCacheFixture()
        var cache = fixture.cache()
        #expect(try await fixture.get("/a", cache) == "/a 1 anyone")
        await cache.flush()
        cache = fixture.cache()
        #expect(try await fixture.get("/a", cache) == "/a 1 anyone")
        #expect(fixture.requests.count == 1)
        fixture.clock.advance(3600)
        #expect(try await fixture.get("/a", cache) == "/a 1 anyone")
        #expect(fixture.requests.count == 2 && fixture.requests[1].contains("If-None-Match: \"1-anyone\""))
        await cache.flush()
        cache = fixture.cache()
        #expect(try await fixture.get("/a", cache) == "/a 1 anyone")
        #expect(fixture.requests.count == 2)
        #expect(await cache.count == 1)
        #expect(fixture.lines.values == [])
    }

    @Test func `After the clock was set back, a response is not fresh`() async throws {
        let fixture = try DiskCacheFixture()
        let cache = fixture.cache()
        _ = try await fixture.get("/a", cache)
        await cache.flush()
        fixture.clock.advance(-1)
        _ = try await fixture.get("/a", fixture.cache())
        #expect(fixture.requests.count == 2)
    }

    @Test func `The files show nothing of a request or its response, and are private`() async throws {
        let fixture = try DiskCacheFixture(filler: "the-body-of-ada")
        let cache = fixture.cache()
        _ = try await fixture.get("/the-path?the-query=1", cache, user: "alice-the-token")
        await cache.flush()
        #expect(await cache.count == 1)
        var all: [UInt8] = []
        for name in ["", "-wal", "-shm", "-lock"] {
            all += try contents(of: fixture.path + name)
            var info = stat()
            #expect(stat(fixture.path + name, &info) == 0 && info.st_mode & 0o7777 == 0o600, "\(name)")
        }
        var info = stat()
        #expect(stat("\(fixture.folder.path)/cache", &info) == 0 && info.st_mode & 0o7777 == 0o700)
        func holds(_ text: String) -> Bool { all.contains(sequence: Array(text.utf8)) }
        #expect(holds("CREATE TABLE record"))
        for text in ["the-body", "the-path", "the-query", "the-token", "127.0.0.1", "confidential", "ETag", "Bearer", "max-age"] {
            #expect(!holds(text), "\(text)")
        }
    }

    @Test func `Two users, restarts in between: none gets the other's response`() async throws {
        let rounds = Rounds("CACHE", default: 300)
        var random = rounds.random
        let fixture = try DiskCacheFixture(control: "public, max-age=3600")
        var cache = fixture.cache()
        for round in 0..<rounds.count {
            let user = [nil, "alice", "bob"].randomElement(using: &random) ?? nil
            let target = "/\(Int.random(in: 0..<5, using: &random))"
            let text = try await fixture.get(target, cache, user: user)
            try #require(text.hasSuffix(" \(user ?? "anyone")") && text.hasPrefix(target), "round \(round), seed \(rounds.seed)")
            if Int.random(in: 0..<10, using: &random) == 0 {
                await cache.flush()
                cache = fixture.cache()
            }
        }
        #expect(fixture.requests.count == 15)
    }

    @Test func `The least recently used are removed first, and the file stays within its limit`() async throws {
        let limit = 1 << 20
        let fixture = try DiskCacheFixture(filler: String(repeating: "x", count: 100_000))
        let cache = fixture.cache(byteLimit: limit)
        for number in 0..<30 {
            _ = try await fixture.get("/\(number)", cache)
            await cache.flush()
            // In use all the time.
            _ = try await fixture.get("/0", cache)
            await cache.flush()
        }
        #expect(fixture.requests.count == 30)
        let count = await cache.count
        #expect((5...10).contains(count))
        var info = stat()
        #expect(stat(fixture.path, &info) == 0 && info.st_size <= limit + 8192)
        _ = try await fixture.get("/29", cache)
        #expect(fixture.requests.count == 30)
        _ = try await fixture.get("/1", cache)
        #expect(fixture.requests.count == 31)
    }

    @Test func `A response above the limit of one is not stored`() async throws {
        let fixture = try DiskCacheFixture(filler: String(repeating: "x", count: 200_000))
        let cache = DiskCache(path: fixture.path, key: fixture.key, entryByteLimit: 100_000)
        _ = try await fixture.get("/a", cache)
        #expect(await cache.count == 0)
    }

    // MARK: Removal

    @Test func `A logout removes the responses for every process, and what is left doesn't open`() async throws {
        let fixture = try DiskCacheFixture(filler: String(repeating: "x", count: 50_000))
        let (cache, other) = (fixture.cache(), fixture.cache())
        for number in 0..<10 { _ = try await fixture.get("/\(number)", cache) }
        _ = try await fixture.get("/0", other)
        let epochs = Collected<[UInt8]>()
        let file = try #require(await cache.opened()).file
        try await file.read { (records) throws(StorageError) in epochs.append(records.moment.epoch) }
        try await other.removeAll()
        #expect(await cache.count == 0)
        _ = try await fixture.get("/0", cache)
        #expect(fixture.requests.count == 11)
        // The epoch, from which the records' key was derived, is no longer on the device.
        let log = try contents(of: "\(fixture.path)-wal")
        try await file.read { (records) throws(StorageError) in epochs.append(records.moment.epoch) }
        let found = try [fixture.path, "\(fixture.path)-wal"].map { try contents(of: $0).contains(sequence: epochs.values[0]) }
        #expect(epochs.values[0] != epochs.values[1] && found == [false, false], "log of \(log.count) bytes")
        var info = stat()
        #expect(stat(fixture.path, &info) == 0 && info.st_size < 200_000)
    }

    @Test func `A change by another process invalidates, and covers what is under way`() async throws {
        let (isAsked, isChanged) = (Latch(), Latch())
        let fixture = try DiskCacheFixture { path in
            guard path == "/slow", !isChanged.isSet else { return }
            isAsked.set()
            isChanged.waitOnThread()
        }
        let (cache, other) = (fixture.cache(), fixture.cache())
        #expect(try await fixture.get("/a", cache) == "/a 1 anyone")
        #expect(try await fixture.send(.put, "/a", other) == "/a 2 anyone")
        #expect(try await fixture.get("/a", cache) == "/a 2 anyone")
        async let old = fixture.get("/slow", cache)
        await isAsked.wait()
        _ = try await fixture.send(.put, "/slow", other)
        isChanged.set()
        #expect(try await old == "/slow 1 anyone")
        #expect(try await fixture.get("/slow", cache) == "/slow 2 anyone")
    }

    @Test func `What was requested before a logout in another process is not stored`() async throws {
        let (isAsked, isRemoved) = (Latch(), Latch())
        let fixture = try DiskCacheFixture { _ in
            guard !isRemoved.isSet else { return }
            isAsked.set()
            isRemoved.waitOnThread()
        }
        let (cache, other) = (fixture.cache(), fixture.cache())
        async let old = fixture.get("/a", cache)
        await isAsked.wait()
        try await other.removeAll()
        isRemoved.set()
        _ = try await old
        #expect(await cache.count == 0)
    }

    @Test func `More changes than are remembered: what was requested before them is not stored`() async throws {
        let fixture = try DiskCacheFixture()
        let cache = fixture.cache()
        try await cache.open()
        let file = try #require(await cache.opened()).file
        let place = KeyedDigest.empty.bytes
        let moment = try await file.read { (records) throws(StorageError) in records.moment }
        for count in [1, 1023, 1] {
            try await file.write { (records) throws(StorageError) in
                for number in 0..<count {
                    try records.invalidate([UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)])
                }
            }
        }
        let (isChanged, rows) = try await file.read { (records) throws(StorageError) in
            (try records.hasChanged(place, since: moment), try records.hasChanged(place, since: records.moment))
        }
        #expect(isChanged && !rows)
    }

    // MARK: The key, and the file

    @Test func `With another key the file is replaced, and with none it is left alone`() async throws {
        let fixture = try DiskCacheFixture()
        let cache = fixture.cache()
        _ = try await fixture.get("/a", cache)
        await cache.flush()
        let other = fixture.cache(key: KeyFile(path: "\(fixture.folder.path)/other-key"))
        #expect(try await fixture.get("/a", other) == "/a 1 anyone")
        #expect(fixture.requests.count == 2)
        #expect(fixture.lines.values.count == 1 && fixture.lines.values[0].contains("was replaced by an empty one"))
        // A write that finds another file also replaces it, and would otherwise do so later.
        await other.flush()
        // The first has noticed it, and can't open the new file either.
        #expect(try await fixture.get("/a", cache) == "/a 1 anyone")
        #expect(fixture.requests.count == 3)
        await cache.flush()

        let none = fixture.cache(key: EnvironmentKey(variable: "NEVOD_NO_SUCH_KEY"))
        let before = try contents(of: fixture.path)
        #expect(try await fixture.get("/a", none) == "/a 1 anyone")
        await #expect(throws: StorageError.self) { try await none.open() }
        #expect(try contents(of: fixture.path) == before)
        #expect(fixture.lines.values.last?.contains("NEVOD_NO_SUCH_KEY") == true)
    }

    @Test func `A file is not replaced twice within the pause`() async throws {
        let fixture = try DiskCacheFixture()
        let caches = ["key", "other-key"].map {
            fixture.cache(key: KeyFile(path: "\(fixture.folder.path)/\($0)"), pause: .seconds(3600))
        }
        for _ in 0..<20 { for cache in caches { #expect(try await fixture.get("/a", cache) == "/a 1 anyone") } }
        #expect(fixture.lines.values.filter { $0.contains("was replaced") }.count <= 2)
    }

    @Test func `What is no cache stays as it is, and requests go on without one`() async throws {
        let fixture = try DiskCacheFixture()
        _ = fixture.folder.makeFolder("cache")
        let tokens = try await SQLiteStorage(path: fixture.path, keys: [fixture.key])
        try await tokens.set("the token", for: "a")
        let cache = fixture.cache()
        #expect(try await fixture.get("/a", cache) == "/a 1 anyone")
        try await cache.removeAll()
        #expect(try await fixture.send(.put, "/a", cache) == "/a 2 anyone")
        #expect(try await tokens.string(for: "a") == "the token")
        await #expect(throws: StorageError.self) { try await cache.open() }
        #expect(fixture.lines.values.first?.contains("is not one of this library's cache files") == true)
    }

    @Test(arguments: ["text", "other tables", "another layout", "open to others", "a folder"])
    func `A file that can't be used is replaced if it is a cache's, and left alone otherwise`(_ kind: String) async throws {
        let fixture = try DiskCacheFixture()
        var cache = fixture.cache()
        _ = try await fixture.get("/a", cache)
        await cache.flush()
        cache = fixture.cache()
        let path = fixture.path
        func sql(_ statement: String) throws {
            _ = try Command.python(
                "import sqlite3, sys; d = sqlite3.connect(sys.argv[1]); d.execute(sys.argv[2]); d.commit()", [path, statement])
        }
        switch kind {
        case "text":
            for end in ["", "-wal", "-shm"] { unlink(path + end) }
            try fixture.folder.write("cache/responses.db", "my own notes")
        case "other tables": try sql("CREATE TABLE more (a)")
        case "another layout": try sql("PRAGMA user_version = 7")
        case "open to others": chmod(path, 0o644)
        default:
            for end in ["", "-wal", "-shm"] { unlink(path + end) }
            mkdir(path, 0o700)
        }
        #expect(try await fixture.get("/a", cache) == "/a 1 anyone")
        #expect(try await fixture.get("/a", cache) == "/a 1 anyone")
        let isReplaced = kind == "other tables" || kind == "another layout"
        #expect(fixture.requests.count == (isReplaced ? 2 : 3))
        #expect(fixture.lines.values.count == 1, "\(fixture.lines.values)")
        if kind == "text" { #expect(try contents(of: path) == Array("my own notes".utf8)) }
    }

    @Test func `After a change that the cache couldn't note, it begins anew`() async throws {
        let fixture = try DiskCacheFixture()
        let variable = "NEVOD_CACHE_KEY_\(UInt32.random(in: 0 ... .max))"
        setenv(variable, String(repeating: "5a", count: 32), 1)
        let key = EnvironmentKey(variable: variable)
        var cache = fixture.cache(key: key)
        for target in ["/a", "/b"] { _ = try await fixture.get(target, cache) }
        await cache.flush()
        unsetenv(variable)
        cache = fixture.cache(key: key)
        // Held open by another process, so it can't simply be removed and forgotten.
        #expect(try await fixture.send(.put, "/a", cache) == "/a 2 anyone")
        setenv(variable, String(repeating: "5a", count: 32), 1)
        #expect(try await fixture.get("/a", cache) == "/a 2 anyone")
        #expect(try await fixture.get("/a", fixture.cache(key: key)) == "/a 2 anyone")
    }

    @Test func `Files that are removed or replaced while they are open are a miss`() async throws {
        let fixture = try DiskCacheFixture()
        let cache = fixture.cache()
        _ = try await fixture.get("/a", cache)
        await cache.flush()
        let earlier = fixture.folder.makeFolder("earlier")
        for end in ["", "-wal"] { _ = try Command.output(["cp", fixture.path + end, "\(earlier)/responses.db\(end)"]) }
        for end in ["", "-wal", "-shm"] { unlink(fixture.path + end) }
        #expect(try await fixture.get("/a", cache) == "/a 1 anyone")
        #expect(try await fixture.send(.put, "/a", cache) == "/a 2 anyone")
        await cache.flush()
        unlink(fixture.path + "-wal")
        #expect(try await fixture.get("/a", cache) == "/a 2 anyone")
        _ = truncate(fixture.path + "-shm", 0)
        #expect(try await fixture.get("/a", cache) == "/a 2 anyone")
        _ = truncate(fixture.path, 0)
        #expect(try await fixture.get("/a", cache) == "/a 2 anyone")
    }

    @Test func `A full queue stores fewer responses, and removes as many`() async throws {
        let fixture = try DiskCacheFixture()
        let cache = fixture.cache()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<400 {
                group.addTask {
                    let text = try await fixture.get("/\(number % 7)", cache)
                    #expect(text == "/\(number % 7) 1 anyone")
                }
            }
            try await group.waitForAll()
        }
        for number in 0..<7 { _ = try await fixture.send(.put, "/\(number)", cache) }
        #expect(await cache.count == 0)
        for number in 0..<7 { #expect(try await fixture.get("/\(number)", cache) == "/\(number) 2 anyone") }
    }
}

extension Array where Element: Equatable {
    func contains(sequence: [Element]) -> Bool {
        guard let first = sequence.first, count >= sequence.count else { return sequence.isEmpty }
        return indices.dropLast(sequence.count - 1).contains { self[$0] == first && self[$0...].starts(with: sequence) }
    }
}
