internal import Foundation
internal import NevodStorage
internal import NevodSupport

/// A record that a storage keeps as JSON.
protocol StoredRecord: Codable, Sendable {
    /// What the value holds, such as "a session"; for the error if it holds something else.
    static var content: String { get }
    /// The remedy of that error.
    static var remedy: String { get }

    /// Checks a record that was just decoded.
    func validate(of key: StorageKey) throws(StorageError)
}

extension StoredRecord {
    func validate(of key: StorageKey) throws(StorageError) {}

    static func decode(_ secret: Secret, of key: StorageKey) throws(StorageError) -> Self {
        let record: Self
        do {
            record = try secret.withUnsafeBytes { try JSONDecoder().decode(Self.self, from: Data($0)) }
        } catch {
            // Leaves out the decoder's message, which may contain parts of the value.
            throw StorageError(
                .damaged, "\(key)", problem: "doesn't hold \(content): it was changed, or another program stored it",
                remedy: remedy)
        }
        try record.validate(of: key)
        return record
    }

    func encoded() throws -> Secret {
        let encoder = JSONEncoder()
        // Keys are sorted so that equal records are encoded as equal bytes, which are then compared.
        encoder.outputFormatting = .sortedKeys
        return Secret(wipingCopy: try encoder.encode(self) as Data)
    }
}

/// A record in a storage. Each read asks the storage, because other processes may change the record, but decodes only what has
/// changed.
final class RecordSlot<Record: StoredRecord>: Sendable {
    private let base: AnyKeyValueStorage
    private let key: StorageKey
    private let known = Locked<(secret: Secret, record: Record)?>(nil)
    /// Serializes writes, for a storage without compare-and-swap.
    private let writing = AsyncLock()

    init(_ base: AnyKeyValueStorage, _ key: StorageKey) {
        self.base = base
        self.key = key
    }

    /// The record and its bytes; nil if nothing is stored.
    func read() async throws -> (secret: Secret?, record: Record?) {
        guard let secret = try await base.read(key) else { return (nil, nil) }
        if let known = known.withLock({ $0 }), known.secret == secret { return (secret, known.record) }
        let record = try Record.decode(secret, of: key)
        known.withLock { $0 = (secret, record) }
        return (secret, record)
    }

    /// - Returns: whether the expected bytes were stored, and were replaced.
    func replace(_ expected: Secret?, with secret: Secret?) async throws -> Bool {
        try await writing.withLock { try await base.replace(key, expected, secret) }
    }
}

/// One object for each storage and key, shared by everything in this process that uses them, so that each user sees the others'
/// changes.
final class SharedObjects<Object: AnyObject & Sendable>: Sendable {
    private struct Place: Hashable {
        let storage: ObjectIdentifier
        let key: StorageKey
    }

    private struct Reference {
        weak var object: Object?
    }

    private let all = Locked<[Place: Reference]>([:])

    /// - Parameter make: Makes an object that keeps the storage alive, so that the storage's identifier isn't reused meanwhile.
    func object(_ storage: AnyKeyValueStorage, _ key: StorageKey, _ make: () -> Object) -> Object {
        guard let identity = storage.identity else { return make() }
        return all.withLock { all in
            let place = Place(storage: identity, key: key)
            if let known = all[place]?.object { return known }
            all = all.filter { $0.value.object != nil }
            let object = make()
            all[place] = Reference(object: object)
            return object
        }
    }
}

extension AnyKeyValueStorage {
    /// Runs the body under the storage's renewal lock for a key, if the storage has one, and returns the body's result.
    func locked<Outcome: Sendable>(
        _ key: StorageKey, _ body: @escaping @Sendable () async throws -> Outcome
    ) async throws -> Outcome {
        guard let withRenewalLock else { return try await body() }
        let result = Locked<Result<Outcome, any Error>?>(nil)
        try await withRenewalLock(key) {
            do {
                // The lock may have been lost while this process was suspended.
                try await confirmRenewalLock?(key)
                let outcome = try await body()
                result.withLock { $0 = .success(outcome) }
            } catch {
                result.withLock { $0 = .failure(error) }
            }
        }
        guard let result = result.withLock({ $0 }) else {
            throw StorageError(
                .other, "\(key)", problem: "the storage's renewal lock returned without running the change",
                remedy: "let the storage's withRenewalLock run its body once")
        }
        return try result.get()
    }
}
