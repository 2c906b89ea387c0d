import Dispatch
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodStorage

struct InMemoryStorageTests {
    private let storage = InMemoryStorage()

    @Test func `A value is readable until it is removed`() async throws {
        storage.set([1], for: "a")
        storage.set([], for: "b")
        #expect(storage.data(for: "a") == [1] && storage.data(for: "b") == [])
        storage.remove(for: "a")
        storage.set(nil as [UInt8]?, for: "b")
        #expect(storage.data(for: "a") == nil && storage.data(for: "b") == nil)
        try await storage.set("tökén", for: "c")
        #expect(try await storage.string(for: "c") == "tökén")
    }

    /// On threads of its own: tasks as short as these may all run on one thread, one after the other.
    @Test func `One of several threads that replace the same value succeeds`() {
        let value = { @Sendable (round: Int) -> [UInt8] in [UInt8(round / 256), UInt8(round % 256)] }
        let storage = storage
        let winners = Locked([Int](repeating: 0, count: 20_000))
        storage.set(value(0), for: "a")
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            for round in 0..<20_000 where storage.replace(value(round), with: value(round + 1), for: "a") {
                winners.withLock { $0[round] += 1 }
            }
        }
        #expect(winners.withLock { $0.allSatisfy { $0 == 1 } })
        #expect(storage.data(for: "a") == value(20_000))
        #expect(!storage.replace(nil, with: [1], for: "a"))
    }

    @Test func `Every reader learns of each key that has changed, once`() async {
        let readers = [storage.changes(), storage.changes()]
        for number in 1...1000 { storage.set([UInt8(number % 256)], for: number == 500 ? "b" : "a") }
        storage.set(storage.data(for: "a"), for: "a")
        #expect(storage.replace([232], with: [232], for: "a"))
        storage.remove(for: "missing")
        #expect(!storage.replace(nil, with: [1], for: "a"))
        #expect(storage.replace(nil, with: [1], for: "end"))
        for reader in readers {
            var keys: [StorageKey] = []
            for await key in reader {
                keys.append(key)
                if key == "end" { break }
            }
            #expect(keys == ["a", "b", "end"])
        }
    }

    /// Takes minutes if each key's cost grows with the number of pending keys.
    @Test(.timeLimit(.minutes(1))) func `A reader that comes late gets 50,000 keys in the order of their first change`() async {
        let keys = (0..<50_000).map { StorageKey(rawValue: "key-\($0)") }
        let reader = storage.changes()
        for round in 0..<2 {
            for key in keys { storage.set([UInt8(round)], for: key) }
        }
        var seen: [StorageKey] = []
        for await key in reader {
            seen.append(key)
            // It was already read, so it is reported again.
            if seen.count == 1 { storage.set([2], for: key) }
            if seen.count == keys.count + 1 { break }
        }
        #expect(seen == keys + [keys[0]])
    }

    @Test func `A waiting reader is woken by a change`() async {
        let (storage, started) = (storage, Latch())
        let reader = Task {
            var changes = storage.changes().makeAsyncIterator()
            started.set()
            return await changes.next()
        }
        await started.wait()
        storage.set([1], for: "a")
        #expect(await reader.value == "a")
    }

    @Test func `A reader that is cancelled or freed leaves no observer behind`() async {
        let (observers, started) = (StorageObservers(), Latch())
        do {
            let unread = observers.changes()
            #expect(observers.count == 1)
            _ = unread
        }
        #expect(observers.count == 0)
        let reader = Task {
            let changes = observers.changes()
            started.set()
            for await _ in changes {}
        }
        await started.wait()
        #expect(observers.count == 1)
        reader.cancel()
        await reader.value
        #expect(observers.count == 0)
    }

    @Test func `The stream of changes ends with the store`() async {
        var observers: StorageObservers? = StorageObservers()
        let changes = observers?.changes()
        observers?.notify("a")
        observers = nil
        var keys: [StorageKey] = []
        if let changes { for await key in changes { keys.append(key) } }
        #expect(keys == ["a"])
    }
}
