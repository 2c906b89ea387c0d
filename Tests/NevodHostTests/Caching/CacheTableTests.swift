import Testing

@testable import NevodHost

struct CacheTableTests {
    private let clock = TestClock()

    private func key(_ path: String, user: String = "u") throws -> CacheKey {
        var request = try HTTPRequest(.get, "http://h/\(path)")
        try request.setHeader("Authorization", user)
        return try #require(CacheKey(request, .ofProcess))
    }

    private func response(_ bytes: Int = 1000, at offset: Int64 = 0) -> StoredResponse {
        let time = UnixTime(seconds: clock.now.seconds + offset)
        let response = HTTPResponse(version: .http11, status: 200, reason: "", headers: HTTPHeaders(), body: .bytes([]))
        return StoredResponse(response, body: [UInt8](repeating: 0, count: bytes), requestedAt: time, receivedAt: time)
    }

    private func vary(_ value: String? = nil) throws -> VaryKey {
        var headers = HTTPHeaders()
        var request = try HTTPRequest(.get, "http://h/")
        if let value {
            headers.add("Vary", "A", by: .host)
            try request.setHeader("A", value)
        }
        return try #require(VaryKey(of: headers, for: request, .ofProcess))
    }

    @Test func `The least recently used entry is evicted first, and the bytes stay in bounds`() throws {
        let cost = response().cost
        var table = CacheTable(byteLimit: 3 * cost, entryByteLimit: .max)
        for path in ["a", "b", "c"] { table.insert(response(), try vary(), for: try key(path)) }
        #expect((table.count, table.byteCount) == (3, 3 * cost))
        table.touch(try #require(table.entries(for: try key("a")).first).id)
        table.insert(response(), try vary(), for: try key("d"))
        #expect(try ["a", "b", "c", "d"].filter { !table.entries(for: try key($0)).isEmpty } == ["a", "c", "d"])
        #expect(table.byteCount == 3 * cost)
        table.insert(response(2000), try vary(), for: try key("e"))
        #expect(try ["a", "c", "d", "e"].filter { !table.entries(for: try key($0)).isEmpty } == ["d", "e"])
    }

    @Test func `A response larger than an entry or the table may be is not stored`() throws {
        var table = CacheTable(byteLimit: 10_000, entryByteLimit: 5000)
        table.insert(response(5000), try vary(), for: try key("a"))
        #expect(table.count == 0)
        table = CacheTable(byteLimit: 5000, entryByteLimit: 10_000)
        table.insert(response(5000), try vary(), for: try key("a"))
        #expect((table.count, table.byteCount) == (0, 0))
    }

    @Test func `The record of uses has bounded memory`() throws {
        var table = CacheTable(byteLimit: 1 << 20, entryByteLimit: .max)
        for path in ["a", "b"] { table.insert(response(), try vary(), for: try key(path)) }
        let ids = try ["a", "b"].map { try #require(table.entries(for: try key($0)).first).id }
        for index in 0..<10_000 { table.touch(ids[index % 2]) }
        #expect(table.usesCount <= 2 * 2 + 65)
        table.insert(response(1 << 20 - 3000), try vary(), for: try key("c"))
        #expect(table.byteCount <= 1 << 20)
    }

    @Test func `A variant has one response, the newest; a resource has a bounded number of variants`() throws {
        var table = CacheTable(byteLimit: 1 << 20, entryByteLimit: .max)
        let key = try key("a")
        table.insert(response(10, at: 5), try vary("1"), for: key)
        table.insert(response(20, at: 4), try vary("1"), for: key)
        #expect(table.entries(for: key).map(\.response.body.count) == [10])
        table.insert(response(30, at: 5), try vary("1"), for: key)
        #expect(table.entries(for: key).map(\.response.body.count) == [30])
        for number in 0..<40 { table.insert(response(), try vary("\(number)"), for: key) }
        #expect(table.entries(for: key).count == 16)
        #expect(table.byteCount == 16 * response().cost)
    }

    @Test func `A change invalidates all partitions of a resource, and responses in flight`() throws {
        var table = CacheTable(byteLimit: 1 << 20, entryByteLimit: .max)
        let (alice, bob, other) = (try key("a", user: "alice"), try key("a", user: "bob"), try key("b"))
        for key in [alice, bob, other] { table.insert(response(), try vary(), for: key) }
        let (early, apart) = (table.begin(alice.resource), table.begin(other.resource))
        table.invalidate(alice.resource)
        let late = table.begin(alice.resource)
        #expect(table.count == 1)
        #expect(table.byteCount == response().cost)
        let mayStore = [table.end(early), table.end(late), table.end(apart)]
        #expect(mayStore == [false, true, true])
        let next = table.begin(alice.resource)
        let mayStoreNext = table.end(next)
        #expect(mayStoreNext)
    }
}
