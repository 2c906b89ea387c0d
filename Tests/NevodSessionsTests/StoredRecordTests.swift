import NevodHost
import NevodStorage
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodSessions

struct StoredRecordTests {
    private struct Note: StoredRecord, Equatable {
        static let content = "a note"
        static let remedy = "write another one"
        static let decoded = Collected<String>()

        let text: String

        func validate(of key: StorageKey) throws(StorageError) {
            Self.decoded.append(text)
            guard text != "refused" else { throw StorageError(.other, "\(key)", problem: "is refused") }
        }
    }

    private let storage = AnyKeyValueStorage(InMemoryStorage())
    private let value: RecordSlot<Note>

    init() {
        value = RecordSlot(storage, "note")
    }

    @Test func `A record is replaced only if the expected one is stored`() async throws {
        let (missing, none) = try await value.read()
        #expect(missing == nil && none == nil)
        let first = try Note(text: "first").encoded()
        #expect(try await value.replace(nil, with: first))
        #expect(try await !value.replace(nil, with: Note(text: "second").encoded()))
        let (secret, record) = try await value.read()
        #expect(secret == first && record == Note(text: "first"))
        #expect(try await value.replace(secret, with: nil))
        #expect(try await storage.read("note") == nil)
    }

    @Test func `Another process's change is seen, and only a change is decoded`() async throws {
        let text = "decoded once"
        try await storage.write("note", Note(text: "before").encoded())
        #expect(try await value.read().record?.text == "before")
        try await storage.write("note", Note(text: text).encoded())
        for _ in 0..<3 { #expect(try await value.read().record?.text == text) }
        #expect(Note.decoded.values.count { $0 == text } == 1)
    }

    @Test func `The error for another value names the key and the remedy, and nothing of the value`() async throws {
        try await storage.write("note", Secret("s3cr3t"))
        let error = await #expect(throws: StorageError.self) { try await value.read() }
        #expect(error?.code == .damaged)
        #expect(
            error?.description
                == "note: doesn't hold a note: it was changed, or another program stored it; write another one")
        try await storage.write("note", Note(text: "refused").encoded())
        await #expect(throws: StorageError(.other, "note", problem: "is refused")) { try await value.read() }
    }

    private final class Shared: Sendable {
        let storage: AnyKeyValueStorage
        init(_ storage: AnyKeyValueStorage) { self.storage = storage }
    }

    @Test func `Users of the same storage and key share an object until the last of them releases it`() {
        let objects = SharedObjects<Shared>()
        let (one, other) = (AnyKeyValueStorage(InMemoryStorage()), AnyKeyValueStorage(InMemoryStorage()))
        let made = Collected<StorageKey>()
        func object(_ storage: AnyKeyValueStorage, _ key: StorageKey) -> Shared {
            objects.object(storage, key) {
                made.append(key)
                return Shared(storage)
            }
        }
        var held = [object(one, "a"), object(one, "a"), object(one, "b"), object(other, "a")]
        #expect(held[0] === held[1])
        #expect(made.values == ["a", "b", "a"])
        held = []
        held.append(object(one, "a"))
        #expect(made.values == ["a", "b", "a", "a"])
    }
}

struct BackoffTests {
    private let now = UnixTime(seconds: 1_800_000_000)
    private var backoff = Backoff(baseDelay: .seconds(5), maxDelay: .seconds(20), longestPause: .seconds(60))

    @Test mutating func `Pauses grow with each failure in a row, up to the longest`() {
        #expect(backoff.rest(at: now) == nil)
        for seconds in [5, 10, 20, 20] {
            backoff.fail(asked: nil, at: now)
            #expect(backoff.rest(at: now) == .seconds(seconds))
        }
        #expect(backoff.rest(at: now + .seconds(15)) == .seconds(5))
        #expect(backoff.rest(at: now + .seconds(20)) == nil)
        backoff.succeed()
        #expect(backoff.rest(at: now) == nil)
        #expect(backoff.failures == 0)
        backoff.fail(asked: nil, at: now)
        #expect(backoff.rest(at: now) == .seconds(5))
    }

    @Test mutating func `A server's own pause counts, up to a limit, and ends with a clock that is set back`() {
        backoff.fail(asked: .seconds(7), at: now)
        #expect(backoff.rest(at: now) == .seconds(7))
        backoff.fail(asked: .seconds(86_400), at: now)
        #expect(backoff.rest(at: now) == .seconds(60))
        #expect(backoff.rest(at: now + .seconds(-1)) == nil)
    }
}
