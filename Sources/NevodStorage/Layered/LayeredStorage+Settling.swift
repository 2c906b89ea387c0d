internal import NevodSupport

/// How the two stores come to hold the same. All of it within the key's turn.
extension LayeredStorage {
    /// What is under a key locally; somebody else may replace it meanwhile.
    struct Local: Sendable {
        let bytes: Secret?
        /// Nil: the remote value was never seen.
        let copy: LayeredCopy?
    }

    struct Settled: Sendable {
        /// What is stored, as far as is known.
        let value: Secret?
        /// Nil: it can't be used.
        let local: Local?
        /// Nil: the remote store holds the value.
        let failure: (any Error)?
    }

    private enum Sent {
        case arrived
        case refused
        case unknown
        case overtaken(Secret?)
    }

    private static let patience = 16

    func copy(of key: StorageKey) async throws -> Local {
        let bytes = try await local.read(key)
        return Local(bytes: bytes, copy: try bytes.map { try LayeredCopy($0, for: key) })
    }

    /// - Returns: nil if it can't be used, which is told.
    private func usableCopy(of key: StorageKey) async throws -> Local? {
        do { return try await copy(of: key) } catch let error as CancellationError { throw error } catch {
            tell(.localFailed(key, error))
            return nil
        }
    }

    /// - Returns: nil if somebody else has changed it since it was read.
    private func put(_ copy: LayeredCopy, over local: Local, _ key: StorageKey) async throws -> Local? {
        let bytes = copy.encoded
        guard try await self.local.replace(key, local.bytes, bytes) else { return nil }
        setStale(key, false)
        return Local(bytes: bytes, copy: copy)
    }

    /// - Returns: nil if somebody else has changed it since it was read, or it can't be written.
    private func putIfPossible(_ copy: LayeredCopy, over local: Local, _ key: StorageKey) async -> Local? {
        do { return try await put(copy, over: local, key) } catch {
            tell(.localFailed(key, error))
            return nil
        }
    }

    private func contention(_ key: StorageKey) -> StorageError {
        StorageError(.busy, "\(key)", problem: "others change it again and again", remedy: "try once more")
    }

    // MARK: Reading

    /// Sends what is pending, and makes the local copy what the remote store holds.
    func settle(_ key: StorageKey) async throws -> Settled {
        for _ in 0..<Self.patience {
            let local = try await usableCopy(of: key)
            let held: Secret?
            do { held = try await remote.read(key) } catch {
                guard let local, let copy = local.copy, !isStale(key) else { throw error }
                return Settled(value: try fallBack(to: copy, error), local: local, failure: error)
            }
            recover()
            guard let local else { return Settled(value: held, local: nil, failure: nil) }
            if let settled = try await settle(key, local, held) { return settled }
        }
        throw contention(key)
    }

    /// - Returns: nil if somebody came between.
    private func settle(_ key: StorageKey, _ local: Local, _ held: Secret?) async throws -> Settled? {
        guard let copy = local.copy, copy.pending != nil, !isStale(key) else { return try await refresh(key, local, held) }
        switch copy.step(over: held) {
        case .settled: return try await refresh(key, local, held)
        case .overruled:
            let settled = try await refresh(key, local, held)
            if settled != nil { tell(.overruled(key)) }
            return settled
        case .send(let marked): return try await send(copy, marked, key, local, held)
        }
    }

    private func refresh(_ key: StorageKey, _ local: Local, _ held: Secret?) async throws -> Settled? {
        guard local.copy != .seen(held) || isStale(key) else { return Settled(value: held, local: local, failure: nil) }
        do {
            guard let new = try await put(.seen(held), over: local, key) else { return nil }
            if let copy = local.copy, copy.value != held { observers.notify(key) }
            return Settled(value: held, local: new, failure: nil)
        } catch {
            tell(.localFailed(key, error))
            if local.copy?.value != held { setStale(key, true) }
            return Settled(value: held, local: nil, failure: nil)
        }
    }

    private func send(
        _ copy: LayeredCopy, _ marked: LayeredCopy, _ key: StorageKey, _ local: Local, _ held: Secret?
    ) async throws -> Settled? {
        let intent: Local
        do {
            guard let new = try await put(marked, over: local, key) else { return nil }
            intent = new
        } catch {
            // Sent without a mark, nobody could tell later whether it was cleared there.
            tell(.localFailed(key, error))
            return Settled(value: copy.value, local: local, failure: error)
        }
        do {
            guard try await remote.replace(key, held, copy.value) else {
                _ = await putIfPossible(copy, over: intent, key)
                return nil
            }
        } catch {
            switch await outcome(of: copy.value, over: held, key, error) {
            case .arrived: break
            case .overtaken: return nil
            case .refused:
                noteFailure(error)
                let new = await putIfPossible(copy, over: intent, key)
                return Settled(value: copy.value, local: new ?? intent, failure: error)
            case .unknown:
                noteFailure(error)
                return Settled(value: copy.value, local: intent, failure: error)
            }
        }
        let new = await putIfPossible(.seen(copy.value), over: intent, key)
        return Settled(value: copy.value, local: new ?? intent, failure: nil)
    }

    /// After an error it is not known whether a value arrived: the remote store may tell. If it holds what it did, the value may
    /// still be on its way, unless the error is the store's own word that it didn't take it.
    private func outcome(of value: Secret?, over held: Secret?, _ key: StorageKey, _ error: any Error) async -> Sent {
        let now: Secret?
        do { now = try await remote.read(key) } catch { return .unknown }
        if now == value { return .arrived }
        guard now == held else { return .overtaken(now) }
        let code = (error as? StorageError)?.code
        return code == .full || code == .tooLarge || code == .permissions ? .refused : .unknown
    }

    // MARK: Writing

    func write(_ value: Secret?, _ key: StorageKey) async throws {
        for _ in 0..<Self.patience {
            let local = try await usableCopy(of: key)
            let held: Secret?
            do { held = try await remote.read(key) } catch {
                guard let local else { throw error }
                guard try await record(value, over: local, key, error) else { continue }
                return
            }
            recover()
            guard let local else { return try await writeWithoutCopy(value, key) }
            let intent: Local
            do {
                guard let new = try await put(.sending(value, over: held), over: local, key) else { continue }
                intent = new
            } catch {
                tell(.localFailed(key, error))
                return try await writeWithoutCopy(value, key)
            }
            if local.copy?.value != value { observers.notify(key) }
            do { try await remote.write(key, value) } catch {
                _ = await recordSent(value, over: held, key, intent, error)
                return
            }
            _ = await putIfPossible(.seen(value), over: intent, key)
            return
        }
        throw contention(key)
    }

    /// Keeps it until the remote store answers.
    ///
    /// - Returns: false if somebody came between.
    private func record(
        _ value: Secret?, over local: Local, _ key: StorageKey, _ failure: any Error
    ) async throws -> Bool {
        do {
            guard try await put(.recording(value, over: local.copy), over: local, key) != nil else { return false }
        } catch {
            tell(.localFailed(key, error))
            throw failure
        }
        noteFailure(failure)
        if local.copy?.value != value { observers.notify(key) }
        return true
    }

    /// After an error of the remote store.
    ///
    /// - Returns: whether the value counts.
    private func recordSent(
        _ value: Secret?, over held: Secret?, _ key: StorageKey, _ intent: Local, _ error: any Error
    ) async -> Bool {
        switch await outcome(of: value, over: held, key, error) {
        case .arrived: _ = await putIfPossible(.seen(value), over: intent, key)
        case .refused:
            noteFailure(error)
            _ = await putIfPossible(.recording(value, over: .seen(held)), over: intent, key)
        case .unknown: noteFailure(error)
        case .overtaken(let other):
            if await putIfPossible(.seen(other), over: intent, key) == nil { setStale(key, true) }
            tell(.overruled(key))
            observers.notify(key)
            return false
        }
        return true
    }

    private func writeWithoutCopy(_ value: Secret?, _ key: StorageKey) async throws {
        setStale(key, true)
        try await remote.write(key, value)
        try didWriteWithoutCopy(value, key)
    }

    private func didWriteWithoutCopy(_ value: Secret?, _ key: StorageKey) throws {
        observers.notify(key)
        // After a restart nobody would know that the copy is old.
        guard value == nil else { return }
        throw StorageError(
            .other, "\(key)", problem: "is cleared in the remote store, and its local copy can't be",
            remedy: "mend the local store, and clear it once more")
    }

    func swap(_ expected: Secret?, _ value: Secret?, _ key: StorageKey) async throws -> Bool {
        for _ in 0..<Self.patience {
            let settled = try await settle(key)
            guard settled.value == expected else { return false }
            if let failure = settled.failure {
                guard let local = settled.local else { throw failure }
                guard try await record(value, over: local, key, failure) else { continue }
                return true
            }
            guard let local = settled.local else { return try await swapWithoutCopy(expected, value, key) }
            let intent: Local
            do {
                guard let new = try await put(.sending(value, over: expected), over: local, key) else { continue }
                intent = new
            } catch {
                tell(.localFailed(key, error))
                return try await swapWithoutCopy(expected, value, key)
            }
            do {
                guard try await remote.replace(key, expected, value) else {
                    _ = await putIfPossible(.seen(expected), over: intent, key)
                    continue
                }
            } catch {
                let counts = await recordSent(value, over: expected, key, intent, error)
                if counts, expected != value { observers.notify(key) }
                return counts
            }
            _ = await putIfPossible(.seen(value), over: intent, key)
            if expected != value { observers.notify(key) }
            return true
        }
        throw contention(key)
    }

    private func swapWithoutCopy(_ expected: Secret?, _ value: Secret?, _ key: StorageKey) async throws -> Bool {
        setStale(key, true)
        guard try await remote.replace(key, expected, value) else { return false }
        try didWriteWithoutCopy(value, key)
        return true
    }
}
