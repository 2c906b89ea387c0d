internal import NevodSupport

/// Brings the two stores in sync. Every method runs under the key's lock.
extension LayeredStorage {
    /// The local entry of a key; another process may replace it meanwhile.
    struct Local: Sendable {
        let bytes: Secret?
        /// Nil if the remote value was never seen.
        let copy: LayeredCopy?
    }

    /// A remote value, with its version if the remote store numbers them.
    struct Held: Sendable {
        let secret: Secret?
        let version: Int64?
    }

    struct Reconciled: Sendable {
        /// The stored value, as far as is known.
        let value: Secret?
        /// Nil if the local entry can't be used.
        let local: Local?
        /// Why the remote store doesn't hold the value; nil if it does.
        let failure: (any Error)?
    }

    /// The outcome of sending a value.
    private enum Sent {
        case arrived
        case refused
        case unknown
        case overtaken(Secret?)
    }

    private static let maximumAttempts = 16

    func copy(of key: StorageKey) async throws -> Local {
        let bytes = try await local.read(key)
        return Local(bytes: bytes, copy: try bytes.map { try LayeredCopy($0, for: key) })
    }

    func readRemote(_ key: StorageKey) async throws -> Held {
        guard let read = remote.readVersioned else { return Held(secret: try await remote.read(key), version: nil) }
        let (secret, version) = try await read(key)
        return Held(secret: secret, version: version)
    }

    /// The copy of a value that the remote store has accepted. The version is read at once: after a restore from a backup it
    /// would be too late.
    private func seen(_ value: Secret?, _ key: StorageKey) async -> LayeredCopy {
        guard remote.readVersioned != nil, let held = try? await readRemote(key), held.secret == value else {
            return .seen(value)
        }
        return .seen(value, version: held.version)
    }

    /// - Returns: nil if the local entry can't be used. An event reports that.
    private func usableCopy(of key: StorageKey) async throws -> Local? {
        do { return try await copy(of: key) } catch let error as CancellationError { throw error } catch {
            tell(.localFailed(key, error))
            return nil
        }
    }

    /// - Returns: nil if another process has changed the entry since it was read.
    private func put(_ copy: LayeredCopy, over local: Local, _ key: StorageKey) async throws -> Local? {
        let bytes = copy.encoded
        guard try await self.local.replace(key, local.bytes, bytes) else { return nil }
        setStale(key, false)
        return Local(bytes: bytes, copy: copy)
    }

    /// - Returns: nil if another process has changed the entry since it was read, or it can't be written.
    private func putIfPossible(_ copy: LayeredCopy, over local: Local, _ key: StorageKey) async -> Local? {
        do { return try await put(copy, over: local, key) } catch {
            tell(.localFailed(key, error))
            return nil
        }
    }

    // MARK: Reading

    /// Sends a pending value, and makes the local copy equal to the remote value.
    func reconcile(_ key: StorageKey) async throws -> Reconciled {
        for _ in 0..<Self.maximumAttempts {
            let local = try await usableCopy(of: key)
            let held: Held
            do { held = try await readRemote(key) } catch {
                guard let local, let copy = local.copy, !isStale(key) else { throw error }
                return Reconciled(value: try fallBack(to: copy, error), local: local, failure: error)
            }
            recover()
            guard let local else { return Reconciled(value: held.secret, local: nil, failure: nil) }
            if let reconciled = try await reconcile(key, local, held) { return reconciled }
        }
        throw StorageError.contention(key)
    }

    /// - Returns: nil if another process interfered.
    private func reconcile(_ key: StorageKey, _ local: Local, _ held: Held) async throws -> Reconciled? {
        guard let copy = local.copy, copy.pending != nil || copy.isNewer(than: held.version), !isStale(key) else {
            return try await refresh(key, local, held)
        }
        switch copy.step(over: held.secret, version: held.version) {
        case .upToDate: return try await refresh(key, local, held)
        case .overruled:
            let reconciled = try await refresh(key, local, held)
            if reconciled != nil { tell(.overruled(key)) }
            return reconciled
        case .send(let marked):
            let reconciled = try await send(copy, marked, key, local, held.secret)
            if reconciled != nil, copy.isNewer(than: held.version) { tell(.wentBack(key)) }
            return reconciled
        }
    }

    private func refresh(_ key: StorageKey, _ local: Local, _ remote: Held) async throws -> Reconciled? {
        let (held, now) = (remote.secret, LayeredCopy.seen(remote.secret, version: remote.version))
        guard local.copy != now || isStale(key) else { return Reconciled(value: held, local: local, failure: nil) }
        do {
            guard let new = try await put(now, over: local, key) else { return nil }
            if let copy = local.copy, copy.value != held { observers.notify(key) }
            return Reconciled(value: held, local: new, failure: nil)
        } catch {
            tell(.localFailed(key, error))
            if local.copy?.value != held { setStale(key, true) }
            return Reconciled(value: held, local: nil, failure: nil)
        }
    }

    private func send(
        _ copy: LayeredCopy, _ marked: LayeredCopy, _ key: StorageKey, _ local: Local, _ held: Secret?
    ) async throws -> Reconciled? {
        let intent: Local
        do {
            guard let new = try await put(marked, over: local, key) else { return nil }
            intent = new
        } catch {
            // Without the mark, nobody could tell later whether the value was cleared there.
            tell(.localFailed(key, error))
            return Reconciled(value: copy.value, local: local, failure: error)
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
                return Reconciled(value: copy.value, local: new ?? intent, failure: error)
            case .unknown:
                noteFailure(error)
                return Reconciled(value: copy.value, local: intent, failure: error)
            }
        }
        let new = await putIfPossible(await seen(copy.value, key), over: intent, key)
        return Reconciled(value: copy.value, local: new ?? intent, failure: nil)
    }

    /// Reads the remote store after an error, to find out whether the value arrived. If the store still holds the old value, the
    /// new one may still be on its way, unless the error says that the store has refused it.
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
        for _ in 0..<Self.maximumAttempts {
            let local = try await usableCopy(of: key)
            let held: Secret?
            let version: Int64?
            do {
                let remote = try await readRemote(key)
                (held, version) = (remote.secret, remote.version)
            } catch {
                guard let local else { throw error }
                guard try await record(value, over: local, key, error) else { continue }
                return
            }
            recover()
            guard let local else { return try await writeWithoutCopy(value, key) }
            let intent: Local
            do {
                guard let new = try await put(.sending(value, over: held, version: version), over: local, key) else { continue }
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
            _ = await putIfPossible(await seen(value, key), over: intent, key)
            return
        }
        throw StorageError.contention(key)
    }

    /// Keeps a value until the remote store can be reached.
    ///
    /// - Returns: false if another process interfered.
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

    /// Records the outcome after the remote store has failed while a value was sent.
    ///
    /// - Returns: false if another value in the remote store takes precedence.
    private func recordSent(
        _ value: Secret?, over held: Secret?, _ key: StorageKey, _ intent: Local, _ error: any Error
    ) async -> Bool {
        switch await outcome(of: value, over: held, key, error) {
        case .arrived: _ = await putIfPossible(await seen(value, key), over: intent, key)
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
        // Otherwise, after a restart, nothing would show that the copy is outdated.
        guard value == nil else { return }
        throw StorageError(
            .other, "\(key)", problem: "was cleared in the remote store, but its local copy can't be cleared",
            remedy: "repair the local store, and clear it again")
    }

    func swap(_ expected: Secret?, _ value: Secret?, _ key: StorageKey) async throws -> Bool {
        for _ in 0..<Self.maximumAttempts {
            let reconciled = try await reconcile(key)
            guard reconciled.value == expected else { return false }
            if let failure = reconciled.failure {
                guard let local = reconciled.local else { throw failure }
                guard try await record(value, over: local, key, failure) else { continue }
                return true
            }
            guard let local = reconciled.local else { return try await swapWithoutCopy(expected, value, key) }
            let intent: Local
            do {
                guard let new = try await put(.sending(value, over: expected, version: local.copy?.version), over: local, key)
                else { continue }
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
                let isStored = await recordSent(value, over: expected, key, intent, error)
                if isStored, expected != value { observers.notify(key) }
                return isStored
            }
            _ = await putIfPossible(await seen(value, key), over: intent, key)
            if expected != value { observers.notify(key) }
            return true
        }
        throw StorageError.contention(key)
    }

    private func swapWithoutCopy(_ expected: Secret?, _ value: Secret?, _ key: StorageKey) async throws -> Bool {
        setStale(key, true)
        guard try await remote.replace(key, expected, value) else { return false }
        try didWriteWithoutCopy(value, key)
        return true
    }
}
