internal import NevodSupport

/// What all the ``TokenStorage``s over one storage and key share: the decoded token, the order of writes, the observers, and
/// the one renewal at a time.
final class TokenCoordinator<Token: TokenModel>: Sendable {
    private let storage: AnyKeyValueStorage
    private let key: StorageKey
    private let memory = Locked(TokenMemory<Token>())
    let writing = AsyncLock()
    private let observers = ValueObservers<Token?>()
    let renewal = SingleFlight<RenewalOutcome>()
    let clock: HostClock

    init(_ storage: AnyKeyValueStorage, _ key: StorageKey, clock: HostClock = .system) {
        self.storage = storage
        self.key = key
        self.clock = clock
    }

    static func shared(_ storage: AnyKeyValueStorage, _ key: StorageKey) -> TokenCoordinator {
        guard let identity = storage.identity else { return TokenCoordinator(storage, key) }
        return KeeperRegistry.coordinator(TokenCoordinator<Token>.self, identity, key) { TokenCoordinator(storage, key) }
    }

    /// The token as it is stored now. The storage is asked every time, since others may write to it; decoded is only what
    /// has changed.
    func read() async throws -> StoredToken<Token> {
        if hasUnsaved, try await !saveLate() { return memory.withLock { $0.current } }
        return try await readStored()
    }

    private func readStored() async throws -> StoredToken<Token> {
        let writes = memory.withLock { $0.writes }
        let bytes = try await storage.read(key)
        if let known = memory.withLock({ $0.isCurrent(bytes) ? $0.current : nil }) { return known }
        let token = try bytes.map(Self.decoded)
        let renewal = renewalTime(of: token)
        let (isNew, current) = memory.withLock { memory in
            (memory.install(token, bytes, ifWrites: writes, renewal: renewal), memory.current)
        }
        if isNew { observers.yield(current.token) }
        return current
    }

    /// Alone among all who share the storage, if it can see to that: until `body` calls `releaseLock`, or has ended and what
    /// came of it is saved. The next would spend the token that the storage holds, and a server that rotates would end the
    /// session. Who waits for `body` doesn't wait for the saving.
    func withRenewalLock<Success: Sendable>(
        _ body: (_ releaseLock: @escaping @Sendable () -> Void) async throws -> Success
    ) async throws -> Success {
        guard let withLock = storage.withRenewalLock else { return try await body {} }
        let (taken, released) = (Waiter<Void>(), Waiter<Void>())
        let release = { @Sendable () -> Void in released.resume(with: .success(())) }
        let key = key
        let holding = Task {
            let problem = "the storage's renewal lock did not run what it guards"
            do {
                try await withLock(key) {
                    taken.resume(with: .success(()))
                    _ = try? await released.value(until: nil)
                }
                taken.resume(with: .failure(StorageError(.other, "\(key)", problem: problem)))
            } catch {
                taken.resume(with: .failure(error))
            }
        }
        defer { if hasUnsaved { saveLate(then: release) } else { release() } }
        try await withTaskCancellationHandler {
            try await taken.value(until: nil)
        } onCancel: {
            holding.cancel()
        }
        return try await body(release)
    }

    /// Tries again and again, half as long as others wait for a lock.
    private func saveLate(then done: @escaping @Sendable () -> Void) {
        Task {
            defer { done() }
            let end = ContinuousClock.now + .seconds(60)
            var pause = Duration.milliseconds(50)
            while hasUnsaved, ContinuousClock.now < end {
                if await (try? saveLate()) == true { return }
                try? await Task.sleep(for: pause)
                pause = min(pause * 2, .seconds(2))
            }
        }
    }

    func write(_ token: Token?) async throws {
        let bytes = try encoded(token)
        try await writing.withLock {
            try await self.storage.write(self.key, bytes)
            self.didWrite(token, bytes)
        }
    }

    /// - Returns: false if the stored token was another one.
    func replace(_ version: TokenVersion, with token: Token?) async throws -> Bool {
        let bytes = try encoded(token)
        return try await writing.withLock {
            guard let expected = try await self.bytes(of: version),
                try await self.storage.replace(self.key, expected.bytes, bytes)
            else { return false }
            self.didWrite(token, bytes)
            return true
        }
    }

    /// A renewed token that can't be written now must not be lost: the one it replaces is worth nothing any more.
    ///
    /// - Parameter version: the token that was renewed. If it is no longer the one that counts, after a logout for one, the
    ///   new one is worth nothing either.
    func keepUnsaved(_ token: Token, replacing version: TokenVersion) throws {
        let bytes = try encoded(token)
        let renewal = renewalTime(of: token)
        let isKept = memory.withLock { $0.installUnsaved(token, bytes, ifVersion: version, renewal: renewal) }
        if isKept { observers.yield(token) }
    }

    /// Whether a renewed token still has to be written.
    var hasUnsaved: Bool { memory.withLock { $0.unsaved != nil } }

    func changes() -> AsyncStream<Token?> {
        let (stream, id) = observers.add()
        guard let changes = storage.changes else { return stream }
        let key = key
        let task = Task { [weak self] in
            for await changed in await changes() where changed == key { _ = try? await self?.read() }
        }
        observers.onTermination(of: id) { task.cancel() }
        return stream
    }

    /// Whether the token should be renewed although nobody has refused it.
    func isDue(_ version: TokenVersion) -> Bool {
        let now = clock.now
        return memory.withLock { $0.current.version == version && $0.renewal.map { $0 <= now } == true }
    }

    /// After a renewal ahead of time that failed: the next request doesn't try at once.
    ///
    /// - Returns: whether the token serves until then.
    func postponeRenewal(of stored: StoredToken<Token>, forGood: Bool) -> Bool {
        let now = clock.now
        let isOver = stored.token?.expiresAt.unixTime.map { $0 <= now } == true
        let time = forGood ? nil : now + .seconds(5)
        memory.withLock { $0.postponeRenewal(until: time, of: stored.version) }
        return forGood || !isOver
    }

    /// After a renewal: a token that is over by this clock the moment it comes shows that the clocks differ. It serves until
    /// it is refused; by its end, every request would renew it.
    func serveRenewed() {
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

    private func didWrite(_ token: Token?, _ bytes: Secret?) {
        let renewal = renewalTime(of: token)
        memory.withLock { $0.installWritten(token, bytes, renewal: renewal) }
        observers.yield(token)
    }

    private struct Expected {
        let bytes: Secret?
    }

    /// What the storage should hold while the token of this version counts; nil if that is another one by now. Needs the
    /// order of writes.
    private func bytes(of version: TokenVersion) async throws -> Expected? {
        // Until a renewed token is written, memory is ahead of the storage.
        if !hasUnsaved { _ = try await readStored() }
        return memory.withLock { $0.current.version == version ? Expected(bytes: $0.stored) : nil }
    }

    /// - Returns: whether there is nothing to be saved any more.
    private func saveLate() async throws -> Bool {
        do {
            return try await writing.withLock {
                // While this waited, another has saved it, or written what counts instead: after a logout it must not come back.
                guard let unsaved = self.memory.withLock({ $0.unsaved }) else { return true }
                let isOurs = try await self.storage.replace(self.key, unsaved.expected, unsaved.bytes)
                self.memory.withLock { $0.endUnsaved(isOurs: isOurs) }
                return true
            }
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            return false
        }
    }

    /// A little before the end, and not for all the same: clients that logged in together would come back together.
    func renewalTime(of token: Token?) -> UnixTime? {
        guard let end = token?.expiresAt.unixTime else { return nil }
        let rest = end - clock.now
        guard rest > .zero else { return end }
        return end - min(.seconds(30), rest / 4) * Double.random(in: 0.5...1)
    }
}

/// Finds the coordinator that others have made for the same storage, as long as one of them lives.
private enum KeeperRegistry {
    private struct Key: Hashable {
        let type: ObjectIdentifier
        let storage: ObjectIdentifier
        let key: StorageKey
    }

    private struct Reference {
        weak var coordinator: (any AnyObject & Sendable)?
    }

    private static let keepers = Locked<[Key: Reference]>([:])

    static func coordinator<Keeper: AnyObject & Sendable>(
        _ type: Keeper.Type, _ storage: ObjectIdentifier, _ key: StorageKey, _ make: () -> Keeper
    ) -> Keeper {
        let id = Key(type: ObjectIdentifier(type), storage: storage, key: key)
        return keepers.withLock { keepers in
            // A coordinator holds its storage, so an identifier is not used again while its coordinator lives.
            if let known = keepers[id]?.coordinator as? Keeper { return known }
            keepers = keepers.filter { $0.value.coordinator != nil }
            let coordinator = make()
            keepers[id] = Reference(coordinator: coordinator)
            return coordinator
        }
    }
}
