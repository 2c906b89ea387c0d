internal import NevodSupport

/// The state shared by all instances of ``TokenStorage`` with the same storage and key: the decoded token, the order of writes,
/// the observers, and the renewal under way.
final class TokenCoordinator<Token: TokenModel>: Sendable {
    let storage: AnyKeyValueStorage
    let key: StorageKey
    let memory = Locked(TokenMemory<Token>())
    let writing = AsyncLock()
    let observers = ValueObservers<Token?>()
    let eventObservers = ValueObservers<TokenEvent<Token>>()
    let renewal = SingleFlight<RenewalOutcome>()
    let clock: HostClock
    let pastRefusal = Locked<PastRefusal?>(nil)

    /// The number of renewal locks that are held or being released.
    let holds = Locked(0)
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
