import NevodHost
import NevodSupport
import Testing

@testable import NevodHostPostgreSQL

struct RemoteCacheTests {
    private var cache = RemoteCache(limit: 4)
    private let old = Secret("old")
    private let new = Secret("new")

    init() {
        _ = cache.setListening(true)
    }

    @Test mutating func `A read value is cached until the server notifies of a later version`() {
        let ticket = cache.ticket(for: "a")
        #expect(cache.value(for: "a") == nil)
        cache.learn(old, version: 3, for: "a", ticket)
        #expect(cache.value(for: "a")?.secret == old)
        cache.noteVersion(3, of: "a")
        cache.noteVersion(2, of: "a")
        #expect(cache.value(for: "a")?.version == 3)
        cache.noteVersion(4, of: "a")
        #expect(cache.value(for: "a") == nil)
        cache.learn(nil, version: 4, for: "a", cache.ticket(for: "a"))
        #expect(cache.value(for: "a")?.secret == .some(nil))
    }

    @Test mutating func `A read that a notification has overtaken is not cached`() {
        let ticket = cache.ticket(for: "a")
        cache.noteVersion(4, of: "a")
        cache.learn(old, version: 3, for: "a", ticket)
        #expect(cache.value(for: "a") == nil)
        cache.learn(new, version: 4, for: "a", ticket)
        cache.learn(old, version: 3, for: "a", ticket)
        #expect(cache.value(for: "a")?.secret == new)
    }

    @Test mutating func `A read from before a disconnection, a silence or a reset is not cached`() {
        var ticket = cache.ticket(for: "a")
        cache.drop("a")
        cache.learn(old, version: 3, for: "a", ticket)
        #expect(cache.value(for: "a") == nil)
        ticket = cache.ticket(for: "a")
        #expect(cache.setListening(false) == ["a"])
        cache.learn(old, version: 3, for: "a", ticket)
        _ = cache.setListening(true)
        cache.learn(old, version: 3, for: "a", ticket)
        #expect(cache.value(for: "a") == nil)
        ticket = cache.ticket(for: "a")
        for number in 0..<10 { _ = cache.ticket(for: StorageKey(rawValue: "\(number)")) }
        cache.learn(old, version: 3, for: "a", ticket)
        #expect(cache.value(for: "a") == nil)
    }

    @Test mutating func `Without a listening connection nothing is cached`() {
        cache.learn(old, version: 3, for: "a", cache.ticket(for: "a"))
        #expect(cache.setListening(false) == ["a"])
        #expect(cache.value(for: "a") == nil)
        cache.learn(old, version: 3, for: "a", cache.ticket(for: "a"))
        #expect(cache.value(for: "a") == nil)
        #expect(cache.setListening(true) == ["a"])
        #expect(cache.value(for: "a") == nil)
    }

    @Test mutating func `Recently used values stay, others go, and unread keys take no space`() {
        for number in 0..<100 {
            cache.learn(old, version: 1, for: "a", cache.ticket(for: "a"))
            let key = StorageKey(rawValue: "\(number)")
            cache.learn(new, version: 1, for: key, cache.ticket(for: key))
            #expect(cache.value(for: "a")?.secret == old)
        }
        #expect(cache.value(for: "7") == nil)
        cache.noteVersion(9, of: "a stranger's")
        #expect(!cache.setListening(false).contains("a stranger's"))
    }
}

struct PostgreSQLWriteTests {
    private func write(_ sealed: [UInt8]?) -> PostgreSQLWrite {
        PostgreSQLWrite(key: "a", version: 4, sealed: sealed, store: .random(), keyNumber: 1, channel: "c")
    }

    @Test func `The outcome of a write in doubt follows from the value stored now`() {
        #expect(write([1]).outcome(given: SealedEntry(version: 3, sealed: [1])) == .pending)
        #expect(write([1]).outcome(given: SealedEntry(version: 0)) == .pending)
        #expect(write([1]).outcome(given: SealedEntry(version: 4, sealed: [1])) == .written)
        #expect(write([1]).outcome(given: SealedEntry(version: 4, sealed: [2])) == .overtaken)
        #expect(write([1]).outcome(given: SealedEntry(version: 4)) == .overtaken)
        #expect(write([1]).outcome(given: SealedEntry(version: 5, sealed: [1])) == .unknown)
        #expect(write(nil).outcome(given: SealedEntry(version: 4)) == .written)
    }

    @Test func `Notifications are parsed as sent; malformed ones are ignored`() {
        let long = StorageKey(rawValue: String(repeating: "é", count: 1024))
        for news: PostgreSQLNotification in [
            .changed("", version: 1), .changed("a b\n\0", version: .max), .changed(long, version: 2), .released(.max),
        ] {
            #expect(PostgreSQLNotification(news.payload) == news)
            #expect(news.payload.utf8.count < 8000)
        }
        for text in ["", "changed", "changed x 00", "changed 1 0", "released -1", "released 1 2", "later 1"] {
            #expect(PostgreSQLNotification(text) == nil)
        }
    }
}
