internal import NevodSupport

/// The state that all ``TokenStorage``s over one storage and key share: the decoded token, the order of writes, the observers,
/// and the renewal under way.
final class TokenCoordinator<Token: TokenModel>: Sendable {
    let storage: AnyKeyValueStorage
    let key: StorageKey
    private let memory = Locked(TokenMemory<Token>())
    let writing = AsyncLock()
    private let observers = ValueObservers<Token?>()
    private let eventObservers = ValueObservers<TokenEvent<Token>>()
    let renewal = SingleFlight<RenewalOutcome>()
    let clock: HostClock
    let pastRefusal = Locked<PastRefusal?>(nil)

    /// The number of renewal locks that are held or being released.
    private let holds = Locked(0)
    /// How long a renewed token that can't be saved keeps the renewal lock: half as long as other processes wait for one.
    private let savingTimeout: Duration

    init(
        _ storage: AnyKeyValueStorage, _ key: StorageKey, clock: HostClock = .system, savingTimeout: Duration = .seconds(60)
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
            // Before others can see that the token is gone.
            if bytes == nil, let old = before.0, refusal == nil { await findRefusal(of: old, before.1) }
            let token = try bytes.map(Self.decoded)
            let renewal = renewalTime(of: token)
            let (current, isOvertaken) = memory.withLock { memory in
                let isOvertaken = memory.hasOvertaken(writes)
                _ = memory.install(token, bytes, number: number, ifWrites: writes, renewal: renewal, refusal: refusal)
                return (memory.current, isOvertaken)
            }
            tellReaders()
            // Otherwise what another process has written after that write might never be reported.
            if !isOvertaken { return current }
        }
        return memory.withLock { $0.current }
    }

    /// Tells readers of the changes so far, in the order in which they happened, whichever threads have made them.
    private func tellReaders() {
        while let news = memory.withLock({ $0.takeNews() }) {
            for item in news {
                if let change = item.change { observers.yield(change) }
                if let event = item.event { eventObservers.yield(event) }
            }
            memory.withLock { $0.didTell() }
        }
    }

    /// Runs `body` while holding the storage's renewal lock, if the storage has one. The lock is released when `body` calls
    /// `releaseLock`, or when `body` has returned and its token is saved: the next holder would otherwise spend the outdated
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

    /// Retries until the timeout. The time in which the storage can't be reached doesn't count: the others can't reach it either, and
    /// the first one that could would spend the outdated token.
    private func retrySaving(then done: @escaping @Sendable () -> Void) {
        Task {
            defer { done() }
            var deadline = ContinuousClock.now + savingTimeout
            var pause = Duration.milliseconds(50)
            while hasUnsaved, ContinuousClock.now < deadline {
                let start = ContinuousClock.now
                var isAway = false
                do {
                    try await trySavingUnsaved()
                    return
                } catch let error as StorageError {
                    isAway = error.code == .unavailable
                } catch {}
                try? await Task.sleep(for: pause)
                if isAway { deadline += .now - start }
                pause = min(pause * 2, .seconds(2))
            }
        }
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

    /// - Returns: false, with nothing written, if the stored token is no longer the one of `version`.
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

    /// The stored bytes of the token of a version; nil if it is no longer current.
    func storedBytes(of version: TokenVersion) -> Secret? {
        memory.withLock { $0.current.version == version ? $0.stored : nil }
    }

    /// Tells readers of a refusal if another process has cleared the refused token before this one could.
    private func noteRefusal(of version: TokenVersion, _ refusal: any Error) async {
        // The other process may have done so since the last read.
        if !hasUnsaved { _ = try? await readStored(after: refusal) }
        memory.withLock { $0.noteRefusal(of: version, refusal) }
        tellReaders()
    }

    /// Keeps a renewed token that can't be written now in memory: the stored one is no longer valid.
    ///
    /// - Parameter version: the version of the token that was renewed. If it is no longer current, as after a logout, the new
    ///   token is dropped.
    func keepInMemory(_ token: Token, replacing version: TokenVersion) throws {
        let bytes = try encoded(token)
        let renewal = renewalTime(of: token)
        _ = memory.withLock { $0.installUnsaved(token, bytes, ifVersion: version, renewal: renewal) }
        tellReaders()
    }

    /// Whether a renewal lock is held, or its release isn't known to the storage yet.
    var holdsLock: Bool { holds.withLock { $0 > 0 } }

    /// Whether a renewed token is in memory but not yet written.
    var hasUnsaved: Bool { memory.withLock { $0.unsaved != nil } }

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

    /// Reads the token whenever the storage reports that another process has changed it; nil if the storage reports nothing.
    private func readingChanges() -> Task<Void, Never>? {
        guard let changes = storage.changes else { return nil }
        let key = key
        return Task { [weak self] in
            let changes = await changes()
            // The token may have changed since the reader came, and before the storage reports to this task.
            if self?.memory.withLock(\.isKnown) == true { _ = try? await self?.read() }
            for await changed in changes where changed == key { _ = try? await self?.read() }
        }
    }

    /// Whether the token should be renewed before the server refuses it.
    func isDue(_ version: TokenVersion) -> Bool {
        let now = clock.now
        return memory.withLock { $0.current.version == version && $0.renewal.map { $0 <= now } == true }
    }

    func isExpired(_ token: Token?) -> Bool {
        let now = clock.now
        return token?.expiresAt.unixTime.map { $0 <= now } == true
    }

    /// Delays the next early renewal by five seconds, after one that failed.
    func delayEarlyRenewal(of version: TokenVersion) {
        let time = clock.now + .seconds(5)
        memory.withLock { $0.postponeRenewal(until: time, of: version) }
    }

    /// From now on, renews the token only when the server refuses it.
    func stopEarlyRenewal(of version: TokenVersion) {
        memory.withLock { $0.postponeRenewal(until: nil, of: version) }
    }

    /// Called after a renewal. A new token that this clock already counts as expired shows that the server's clock differs. It
    /// is used until the server refuses it; otherwise each request would renew it.
    func ignoreExpiryIfPassed() {
        let now = clock.now
        memory.withLock { memory in
            guard let renewal = memory.renewal, renewal <= now else { return }
            memory.postponeRenewal(until: nil, of: memory.current.version)
        }
    }

    private func encoded(_ token: Token?) throws -> Secret? {
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

    /// The bytes that the storage should hold if the token of this version is current; nil if it no longer is. Must be called
    /// with the `writing` lock held.
    private func bytes(of version: TokenVersion, after refusal: (any Error)?) async throws -> Expected? {
        // Until a renewed token is written, memory is ahead of the storage.
        if !hasUnsaved { _ = try await readStored(after: refusal) }
        return memory.withLock { $0.current.version == version ? Expected(bytes: $0.stored) : nil }
    }

    /// - Returns: whether nothing is left to be saved.
    private func saveUnsaved() async throws -> Bool {
        do {
            try await trySavingUnsaved()
            return true
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            return false
        }
    }

    private func trySavingUnsaved() async throws {
        try await writing.withLock {
            // While this task waited for the lock, another one may have saved the token, or replaced it: a logout is final.
            guard let unsaved = self.memory.withLock({ $0.unsaved }) else { return }
            let isWritten = try await self.storage.replace(self.key, unsaved.expected, unsaved.bytes)
            self.memory.withLock { $0.forgetUnsaved(isWritten: isWritten) }
        }
    }

    /// A little before expiry, with jitter: clients that logged in at the same time would otherwise all renew at the same time.
    func renewalTime(of token: Token?) -> UnixTime? {
        guard let expiry = token?.expiresAt.unixTime else { return nil }
        let rest = expiry - clock.now
        guard rest > .zero else { return expiry }
        return expiry - min(.seconds(30), rest / 4) * Double.random(in: 0.5...1)
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
            // A coordinator holds its storage, so an identifier is not used again while its coordinator lives.
            if let known = coordinators[id]?.coordinator as? Coordinator { return known }
            coordinators = coordinators.filter { $0.value.coordinator != nil }
            let coordinator = make()
            coordinators[id] = Reference(coordinator: coordinator)
            return coordinator
        }
    }
}
