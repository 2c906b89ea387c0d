import Glibc
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodStorage

/// Tests damaged files, killed processes, and full devices. Each read is correct or a miss, and no request fails.
@Suite(.blocking) struct DiskCacheDamageTests {
    private static let count = 20

    /// Checks that every response is the server's, and returns how many came from the cache.
    private func readAll(_ fixture: DiskCacheFixture, _ cache: DiskCache, _ what: String) async throws -> Int {
        let before = fixture.requests.count
        for number in 0..<Self.count {
            let text = try await fixture.get("/\(number)", cache, user: number.isMultiple(of: 2) ? "alice" : "bob")
            try #require(text == "/\(number) 1 \(number.isMultiple(of: 2) ? "alice" : "bob")", "\(what)")
        }
        return Self.count - (fixture.requests.count - before)
    }

    private func integrity(_ path: String) throws -> [String] {
        try Command.python(
            "import sqlite3, sys\nfor row in sqlite3.connect(sys.argv[1]).execute('PRAGMA integrity_check'): print(row[0])",
            [path])
    }

    @Test func `Bytes that were changed: each read is right or a miss`() async throws {
        let rounds = Rounds("DAMAGE", default: 60)
        var random = rounds.random
        let fixture = try DiskCacheFixture(filler: String(repeating: "x", count: 2000))
        let first = fixture.cache()
        _ = try await readAll(fixture, first, "first")
        await first.flush()
        let folder = "\(fixture.folder.path)/cache"
        // A file with a log, like a killed process leaves it, and a file whose log was moved into the database.
        for name in ["log", "moved"] { _ = try Command.output(["cp", "-a", folder, "\(folder)-\(name)"]) }
        unlink("\(folder)-log/responses.db-shm")
        #expect(try integrity("\(folder)-moved/responses.db") == ["ok"])
        #expect(access("\(folder)-moved/responses.db-wal", F_OK) != 0)
        var hits: [Int] = []
        for round in 0..<rounds.count {
            // Another folder, because the last round's files may still be open.
            let place = "\(fixture.folder.path)/\(round)"
            let isMoved = round.isMultiple(of: 2)
            _ = try Command.output(["cp", "-a", "\(folder)-\(isMoved ? "moved" : "log")", place])
            let name = "responses.db\(isMoved ? "" : "-wal")"
            var bytes = try contents(of: "\(place)/\(name)")
            switch round % 5 {
            case 4: bytes.removeLast(.random(in: 0..<bytes.count, using: &random))
            default:
                for _ in 0..<(1 << (round % 5)) {
                    bytes[.random(in: bytes.indices, using: &random)] ^= 1 << Int.random(in: 0..<8, using: &random)
                }
            }
            try fixture.folder.write("\(round)/\(name)", bytes)
            let cache = DiskCache(
                path: "\(place)/responses.db", key: KeyFile(path: "\(place)/key"), byteLimit: 32 << 20, entryByteLimit: 4 << 20,
                pause: .zero, logger: nil)
            hits.append(try await readAll(fixture, cache, "round \(round), seed \(rounds.seed)"))
        }
        print("served from damaged files: \(hits)")
        #expect(hits.contains { $0 > 0 } && hits.contains { $0 < Self.count })
    }

    @Test func `Rows that were exchanged, changed or put back are a miss`() async throws {
        for statement in [
            "UPDATE record SET body = (SELECT body FROM record WHERE id = 2) WHERE id = 1",
            "UPDATE record SET head = (SELECT head FROM record AS other WHERE other.id = 3 - record.id) WHERE id < 3",
            "UPDATE record SET part = (SELECT part FROM record AS other WHERE other.id = 3 - record.id) WHERE id < 3",
            "UPDATE record SET resource = (SELECT resource FROM record WHERE id = 1), part = (SELECT part FROM record WHERE id = 1)",
            "UPDATE state SET epoch = x'00000000000000000000000000000000'", "UPDATE state SET changes = 9223372036854775807",
            "UPDATE state SET last = -1", "UPDATE record SET used = 9223372036854775807", "DELETE FROM state",
            "UPDATE record SET body = x''", "UPDATE record SET id = id + 100", "DELETE FROM store",
            "UPDATE store SET key_sealed = x'00'",
            "UPDATE store SET id = x'00'",
        ] {
            let fixture = try DiskCacheFixture()
            let cache = fixture.cache()
            _ = try await readAll(fixture, cache, statement)
            await cache.flush()
            _ = try Command.python(
                "import sqlite3, sys; d = sqlite3.connect(sys.argv[1]); d.execute(sys.argv[2]); d.commit()",
                [fixture.path, statement])
            _ = try await readAll(fixture, cache, statement)
            _ = try await readAll(fixture, fixture.cache(), statement)
            _ = try await fixture.send(.put, "/changed", cache)
            await cache.flush()
            #expect(try await readAll(fixture, fixture.cache(), statement) > 0, "\(statement)")
        }
    }

    @Test func `A process that is killed while it stores leaves a file that is consistent`() async throws {
        let rounds = Rounds("CRASH", default: 25)
        var random = rounds.random
        let fixture = try DiskCacheFixture(filler: String(repeating: "x", count: 3000))
        for round in 0..<rounds.count {
            let (pid, pipe) = try StorageChild.spawn(["cache", "\(fixture.folder.path)/cache", fixture.server.url, "0", "loop"])
            let reader = LineReader(pipe)
            // The first rounds die while they create the file.
            if round > 5 { try #require(reader.next()?.hasPrefix("/0 ") == true) }
            usleep(random.next(upperBound: 40_000))
            kill(pid, SIGKILL)
            for line in reader.rest() where line.hasSuffix("anyone") {
                let words = line.split(separator: " ")
                #expect(words.count == 4 && words[0] == words[1], "\(line)")
            }
            close(pipe)
            Command.wait(for: pid)
            if access(fixture.path, F_OK) == 0 { #expect(try integrity(fixture.path) == ["ok"], "round \(round)") }
        }
        // By the system's clock, like the children.
        let cache = fixture.cache()
        let before = fixture.requests.count
        for number in 0..<50 {
            let text = try await fixture.send(.get, "/\(number)", cache, clock: .system)
            #expect(text == "/\(number) 1 anyone")
        }
        #expect(fixture.requests.count - before < 50)
        #expect(fixture.lines.values == [])
    }

    @Test func `Processes that share a file see each other's responses and changes`() async throws {
        let fixture = try DiskCacheFixture()
        #expect(try fixture.child(["get:/a", "get:/b"]) == ["/a /a 1 anyone", "/b /b 1 anyone", "ok"])
        #expect(
            try fixture.child(["get:/a", "put:/a", "get:/a"]) == ["/a /a 1 anyone", "/a /a 2 anyone", "/a /a 2 anyone", "ok"])
        #expect(fixture.requests.count == 4)
        let cache = fixture.cache()
        func get(_ target: String) async throws -> String { try await fixture.send(.get, target, cache, clock: .system) }
        #expect(try await get("/a") == "/a 2 anyone")
        #expect(try await get("/b") == "/b 1 anyone")
        #expect(fixture.requests.count == 4)
        #expect(try fixture.child(["put:/b"]) == ["/b /b 2 anyone", "ok"])
        #expect(try await get("/b") == "/b 2 anyone")
        #expect(try fixture.child(["clear"]) == ["ok"])
        #expect(await cache.count == 0)
        #expect(fixture.lines.values == [])
    }

    @Test func `Eight processes at once: none gets a response from before its own change`() async throws {
        let fixture = try DiskCacheFixture(filler: String(repeating: "x", count: 3000))
        var random = Rounds("CACHE", default: 1).random
        let children = try (0..<8).map { _ in
            let steps = (0..<60).map { _ in
                "\(Int.random(in: 0..<5, using: &random) == 0 ? "put" : "get"):/\(Int.random(in: 0..<6, using: &random))"
            }
            return (
                steps,
                try StorageChild.spawn(["cache", "\(fixture.folder.path)/cache", fixture.server.url, "0"] + steps)
            )
        }
        for (steps, (pid, pipe)) in children {
            let lines = LineReader(pipe).rest()
            close(pipe)
            Command.wait(for: pid)
            try #require(lines.count == steps.count + 1 && lines.last == "ok", "\(lines.suffix(2))")
            var changed: [Substring: Int] = [:]
            for (step, line) in zip(steps, lines) {
                let words = line.split(separator: " ")
                let version = try #require(Int(words[2]))
                #expect(version >= changed[words[0], default: 1], "\(line)")
                if step.hasPrefix("put") { changed[words[0]] = version }
            }
        }
        #expect(try integrity(fixture.path) == ["ok"])
        // There must be hits, too.
        #expect(fixture.requests.count < 400)
    }

    @Test(arguments: [1, 40_000, 80_000])
    func `Where files can't grow, requests go on, and a change still removes`(_ limit: Int) async throws {
        let fixture = try DiskCacheFixture(filler: String(repeating: "x", count: 3000))
        #expect(try fixture.child(["get:/a", "get:/b"]).last == "ok")
        // Open, so that the log's index exists.
        let cache = fixture.cache()
        try await cache.open()
        let steps = (0..<30).map { "get:/\($0)" } + ["get:/a", "put:/a", "get:/a", "put:/b"]
        let lines = try fixture.child(limit: limit, steps)
        #expect(lines.count == steps.count + 1 && lines.last == "ok", "\(lines.suffix(3))")
        #expect(lines[30] == "/a /a 1 anyone" && lines[32] == "/a /a 2 anyone")
        for target in ["/a", "/b"] {
            #expect(try await fixture.send(.get, target, cache, clock: .system) == "\(target) 2 anyone")
        }
    }

    @Test(.enabled(if: geteuid() == 0)) func `On a full device, requests go on, and a change still removes`() async throws {
        let fixture = try DiskCacheFixture(filler: String(repeating: "x", count: 20_000))
        let mount = fixture.folder.makeFolder("cache")
        guard (try? Command.output(["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", mount])) != nil else { return }
        defer { _ = try? Command.output(["umount", "-l", mount]) }
        let cache = fixture.cache()
        #expect(try await fixture.get("/a", cache) == "/a 1 anyone")
        await cache.flush()
        let filler = Glibc.open("\(mount)/filler", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        let zeros = [UInt8](repeating: 0, count: 4096)
        while write(filler, zeros, zeros.count) > 0 {}
        close(filler)
        for number in 0..<20 { #expect(try await fixture.get("/\(number)", cache) == "/\(number) 1 anyone") }
        await cache.flush()
        #expect(fixture.lines.values.contains { $0.contains("free some space on its device") }, "\(fixture.lines.values)")
        let requests = fixture.requests.count
        #expect(try await fixture.get("/a", cache) == "/a 1 anyone")
        #expect(fixture.requests.count == requests)
        #expect(try await fixture.send(.put, "/a", cache) == "/a 2 anyone")
        #expect(try await fixture.get("/a", cache) == "/a 2 anyone")
        unlink("\(mount)/filler")
        #expect(try await fixture.get("/a", fixture.cache()) == "/a 2 anyone")
    }
}
