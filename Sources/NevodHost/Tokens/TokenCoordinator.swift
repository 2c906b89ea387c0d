internal import NevodSupport

/// The state shared by all instances of ``TokenStorage`` with the same storage and key: the decoded token, the order of writes,
/// the observers, and the renewal under way.
final class TokenCoordinator<Token: TokenModel>: Sendable {
    let storage: AnyKeyValueStorage
    let key: StorageKey
    let memory = Locked(TokenMemory<Token>())
    let writing = AsyncLock()
    private let observers = ValueObservers<Token?>()
    private let eventObservers = ValueObservers<TokenEvent<Token>>()
    let renewal = SingleFlight<RenewalOutcome>()
    let clock: HostClock
    let pastRefusal = Locked<PastRefusal?>(nil)

    /// The number of renewal locks that are held or being released.
    private let holds = Locked(0)
    /// How long a renewed token that can't be saved holds the renewal lock.
    let savingTimeout: Duration

    init(
        _ storage: AnyKeyValueStorage, _ key: StorageKey, clock: HostClock = .system,
        savingTimeout: Duration = UnsavedToken.longestHold
    ) {
        self.storage = storage
        self.key = key
        self.clock = clock
        self.savingTimeout = savingTimeout
    }

    static func shared(_ storage: AnyKeyValueStorage, _ key: StorageKey) -> TokenCoordinator {
        guard let identity = storage.identity else { return TokenCoordinator(storage, key) }
        return CoordinatorRegistry.coordinator(TokenCoordinator<Token>.self, identity, key) { TokenCoordinator(storage, key) }
    }

    /// The token as it is stored now. Reads the storage each time, since other processes may write to it, but decodes only
    /// bytes that have changed.
    func read() async throws -> StoredToken<Token> {
        if hasUnsaved, try await !saveUnsaved() { return memory.withLock { $0.current } }
        return try await readStored()
    }

    /// - Parameter refusal: the reason if the server has just refused to renew the last known token.
    private func readStored(after refusal: (any Error)? = nil) async throws -> StoredToken<Token> {
        for _ in 0..<100 {
            let (number, writes) = memory.withLock { $0.beginRead() }
            let bytes = try await storage.read(key)
            if let known = memory.withLock({ $0.endRead(number, bytes) ? $0.current : nil }) { return known }
            let before = memory.withLock { ($0.bytes, $0.current.version) }
            // Done before other tasks can see that the token is gone.
            if bytes == nil, let old = before.0, refusal == nil { await findRefusal(of: old, before.1) }
            let token = try bytes.map(Self.decoded)
            let renewal = renewalTime(of: token)
            let (current, isOvertaken) = memory.withLock { memory in
                let isOvertaken = memory.hasOvertaken(writes)
                _ = memory.install(token, bytes, number: number, ifWrites: writes, renewal: renewal, refusal: refusal)
                return (memory.current, isOvertaken)
            }
            tellReaders()
            // If a write overtook this read, reads again: otherwise a later write by another process might never be reported.
            if !isOvertaken { return current }
        }
        return memory.withLock { $0.current }
    }

    /// Tells readers about the changes so far, in the order in which they happened, whichever threads made them.
    func tellReaders() {
        while let news = memory.withLock({ $0.takeNews() }) {
            for item in news {
                if let change = item.change { observers.yield(change) }
                if let event = item.event { eventObservers.yield(event) }
            }
            memory.withLock { $0.didTell() }
        }
    }

    /// Runs `body` while holding the storage's renewal lock, if the storage has one. The lock is released when `body` calls
    /// `releaseLock`, or once `body` has returned and its token is saved. Otherwise the next holder would spend the outdated
    /// token in the storage, and a server that rotates tokens would end the session. Returns without waiting for the save.
    func withRenewalLock<Success: Sendable>(
        _ body: (_ releaseLock: @escaping @Sendable () -> Void) async throws -> Success
    ) async throws -> Success {
        guard let withLock = storage.withRenewalLock else { return try await body {} }
        let (taken, released) = (Waiter<Void>(), Waiter<Void>())
        let release = { @Sendable () -> Void in released.resume(with: .success(())) }
        let key = key
        let holding = Task {
            let isTaken = Locked(false)
            defer { if isTaken.withLock(\.self) { self.holds.withLock { $0 -= 1 } } }
            let problem = "the storage's renewal lock did not run the renewal"
            do {
                try await withLock(key) {
                    isTaken.withLock { $0 = true }
                    self.holds.withLock { $0 += 1 }
                    taken.resume(with: .success(()))
                    _ = try? await released.value(until: nil)
                }
                taken.resume(with: .failure(StorageError(.other, "\(key)", problem: problem)))
            } catch {
                taken.resume(with: .failure(error))
            }
        }
        defer { if hasUnsaved { retrySaving(then: release) } else { release() } }
        try await withTaskCancellationHandler {
            try await taken.value(until: nil)
        } onCancel: {
            holding.cancel()
        }
        return try await body(release)
    }

    /// Waits until no renewal lock is held.
    func waitForRelease(until deadline: ContinuousClock.Instant) async {
        while holdsLock, ContinuousClock.now < deadline { try? await Task.sleep(for: .milliseconds(2)) }
    }

    /// Checks that the renewal lock is still held by this process.
    func confirmRenewalLock() async throws {
        try await storage.confirmRenewalLock?(key)
    }

    func write(_ token: Token?) async throws {
        let bytes = try encoded(token)
        let hadToken = memory.withLock { $0.bytes != nil }
        try await writing.withLock {
            _ = try await self.writing(bytes, .program) {
                try await self.storage.write(self.key, bytes)
                return true
            }
            self.didWrite(token, bytes, .program)
        }
        if token != nil, !hadToken { await forgetRecords() }
    }

    /// Runs `write`, which writes `bytes` to the storage.
    ///
    /// - Parameter write: returns whether they were written.
    private func writing(
        _ bytes: Secret?, _ cause: TokenWriteCause, _ write: () async throws -> Bool
    ) async throws -> Bool {
        memory.withLock { $0.willWrite(bytes, cause) }
        var isWritten = false
        defer { if !isWritten { memory.withLock { $0.didNotWrite() } } }
        isWritten = try await write()
        return isWritten
    }

    /// - Returns: false, with nothing written, if `version` is no longer current.
    func replace(_ version: TokenVersion, with token: Token?, _ cause: TokenWriteCause) async throws -> Bool {
        let bytes = try encoded(token)
        let hadToken = memory.withLock { $0.bytes != nil }
        let isReplaced = try await writing.withLock {
            guard let expected = try await self.bytes(of: version, after: cause.refusal),
                try await self.writing(
                    bytes, cause, { try await self.storage.replace(self.key, expected.bytes, bytes) })
            else {
                if let refusal = cause.refusal { await self.noteRefusal(of: version, refusal) }
                return false
            }
            self.didWrite(token, bytes, cause)
            return true
        }
        if isReplaced, token != nil, !hadToken { await forgetRecords() }
        return isReplaced
    }

    /// The stored bytes of a version's token; nil if the version is no longer current.
    func storedBytes(of version: TokenVersion) -> Secret? {
        memory.withLock { $0.current.version == version ? $0.stored : nil }
    }

    /// Tells readers about a refusal if another process cleared the refused token first.
    private func noteRefusal(of version: TokenVersion, _ refusal: any Error) async {
        // The other process may have cleared it since the last read.
        if !hasUnsaved { _ = try? await readStored(after: refusal) }
        memory.withLock { $0.noteRefusal(of: version, refusal) }
        tellReaders()
    }

    /// Whether a renewal lock is held, or the storage hasn't released it yet.
    var holdsLock: Bool { holds.withLock { $0 > 0 } }

    func changes() -> AsyncStream<Token?> {
        let (stream, id) = observers.add()
        if let task = readingChanges() { observers.onTermination(of: id) { task.cancel() } }
        return stream
    }

    func events() -> AsyncStream<TokenEvent<Token>> {
        let (stream, id) = eventObservers.add(keeping: 256)
        if let task = readingChanges() { eventObservers.onTermination(of: id) { task.cancel() } }
        return stream
    }

    /// Reads the token whenever the storage reports that another process has changed it; nil if the storage doesn't report
    /// changes.
    private func readingChanges() -> Task<Void, Never>? {
        guard let changes = storage.changes else { return nil }
        let key = key
        return Task { [weak self] in
            let changes = await changes()
            // The token may have changed after the reader came, but before the storage began to report to this task.
            if self?.memory.withLock(\.isKnown) == true { _ = try? await self?.read() }
            for await changed in changes where changed == key { _ = try? await self?.read() }
        }
    }

    func encoded(_ token: Token?) throws -> Secret? {
        try token.map { token in
            if let token = token as? any SecretlyStored { return token.encoded() }
            return Secret(wipingCopy: try token.encode())
        }
    }

    private static func decoded(_ bytes: Secret) throws -> Token {
        if let type = Token.self as? any SecretlyStored.Type,
            let token = try bytes.withUnsafeBytes({ try type.init(stored: $0) }) as? Token
        {
            return token
        }
        return try Token.decode(from: bytes.copied(as: Token.Encoded.self))
    }

    private func didWrite(_ token: Token?, _ bytes: Secret?, _ cause: TokenWriteCause) {
        let renewal = renewalTime(of: token)
        memory.withLock { $0.installWritten(token, bytes, renewal: renewal, cause: cause) }
        tellReaders()
    }

    private struct Expected {
        let bytes: Secret?
    }

    /// The bytes that the storage should hold if the token of this version is current; nil if it isn't. Must be called with the
    /// `writing` lock held.
    private func bytes(of version: TokenVersion, after refusal: (any Error)?) async throws -> Expected? {
        // Until a renewed token is written, memory is ahead of the storage.
        if !hasUnsaved { _ = try await readStored(after: refusal) }
        return memory.withLock { $0.current.version == version ? Expected(bytes: $0.stored) : nil }
    }
}

/// The live coordinators by storage and key, so that all users of one storage share one coordinator.
private enum CoordinatorRegistry {
    private struct Key: Hashable {
        let type: ObjectIdentifier
        let storage: ObjectIdentifier
        let key: StorageKey
    }

    private struct Reference {
        weak var coordinator: (any AnyObject & Sendable)?
    }

    private static let coordinators = Locked<[Key: Reference]>([:])

    static func coordinator<Coordinator: AnyObject & Sendable>(
        _ type: Coordinator.Type, _ storage: ObjectIdentifier, _ key: StorageKey, _ make: () -> Coordinator
    ) -> Coordinator {
        let id = Key(type: ObjectIdentifier(type), storage: storage, key: key)
        return coordinators.withLock { coordinators in
            // A coordinator retains its storage, so the storage's identifier isn't reused while the coordinator lives.
            if let known = coordinators[id]?.coordinator as? Coordinator { return known }
            coordinators = coordinators.filter { $0.value.coordinator != nil }
            let coordinator = make()
            coordinators[id] = Reference(coordinator: coordinator)
            return coordinator
        }
    }
}
