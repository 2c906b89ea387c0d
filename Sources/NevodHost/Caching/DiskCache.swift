public import NevodStorage
internal import NevodSupport

/// Stores the responses of a ``CachingSession`` in a sealed file. They outlast the process, and all processes that use the file
/// share them. When the file is full, the least recently used responses are removed.
///
/// ```swift
/// let cache = DiskCache(path: "/var/lib/app/responses.db", key: KeyFile(path: "/etc/app/responses.key"))
/// let session = CachingSession(CurlSession(), store: cache)
/// ```
///
/// The file is the cache's own, never a token store's. Each response is sealed with AES-256-GCM, together with its headers, and
/// bound to its resource and its users; the file names these only by keyed digests. The file reveals only the sizes and the order
/// of the responses.
///
/// - No request fails because of the file. Responses are written after they were delivered. A file that is damaged, or that the key
///   doesn't open, is replaced by an empty one. A file that can't be used is left alone for a minute. The logger is told why.
/// - The file of another program is never changed.
/// - An invalidation (RFC 9111 §4.4) or ``removeAll()`` returns once it has taken effect for all processes. If the file can't be
///   changed, it is removed.
/// - After a power failure, the last responses may be missing; after `kill -9`, only responses that weren't written yet.
///
/// If an earlier copy of the file is put back, its responses are served while they are fresh. As with ``InMemoryCache``, sessions
/// may share a cache only if servers can't tell them apart.
public final class DiskCache: Sendable {
    private enum Phase {
        case closed
        case opening(Task<OpenDiskCache?, Never>)
        case open(OpenDiskCache)
        case off(until: ContinuousClock.Instant, any Error)
    }

    private struct State {
        var phase = Phase.closed
        /// When the file was last replaced.
        var replacedAt: ContinuousClock.Instant?
        /// The number of changes that could not be written. Until the file is emptied, any of its responses may be outdated.
        var missedChanges = 0
        var lastProblem: String?
    }

    private let path: String
    private let source: any StoreKeySource
    private let byteLimit: Int
    private let entryByteLimit: Int
    private let pause: Duration
    private let logger: (any NetworkLogger)?
    private let state = Locked(State())

    /// Nothing is read or created before the first request, or ``open()``.
    ///
    /// - Parameters:
    ///   - path: an absolute path. The file, and a missing folder, are created with modes 0600 and 0700.
    ///   - key: wraps the file's key. A file that was created with another key is replaced by an empty one.
    ///   - byteLimit: the size limit of the file. Its log takes some megabytes more.
    ///   - entryByteLimit: the size limit of one response, including its headers; at most 4 MiB.
    ///   - logger: receives a line when the file was replaced, or can't be used.
    public convenience init(
        path: String, key: any StoreKeySource, byteLimit: Int = 128 << 20, entryByteLimit: Int = 4 << 20,
        logger: (any NetworkLogger)? = nil
    ) {
        self.init(
            path: path, key: key, byteLimit: byteLimit, entryByteLimit: entryByteLimit, pause: .seconds(60), logger: logger)
    }

    /// - Parameter pause: how long a file that can't be used is left alone, and the shortest time between two replacements of a
    ///   file.
    init(
        path: String, key: any StoreKeySource, byteLimit: Int, entryByteLimit: Int, pause: Duration,
        logger: (any NetworkLogger)?
    ) {
        self.path = path
        source = key
        self.byteLimit = byteLimit
        self.entryByteLimit = min(entryByteLimit, byteLimit, 4 << 20)
        self.pause = pause
        self.logger = logger
    }

    /// Opens the file now, instead of at the first request.
    ///
    /// - Throws: the reason why it can't be used, such as a `StorageError`. Requests then continue without it.
    public func open() async throws {
        guard await opened() == nil else { return }
        if case .off(_, let error) = state.withLock(\.phase) { throw error }
    }

    /// Writes the responses that were delivered so far. Call it at the end of a program.
    public func flush() async {
        guard case .open(let cache) = state.withLock(\.phase) else { return }
        _ = await cache.queue.perform(.nothing)
    }

    /// Removes all responses, for all processes, for example at logout. Responses of requests under way won't be stored. Data
    /// that is left on the device can no longer be decrypted.
    ///
    /// - Throws: `StorageError` if the file can be neither changed nor removed. This cache then serves nothing.
    public func removeAll() async throws(StorageError) {
        try await remove { _ in .removeAll }
    }

    /// The number of stored responses; 0 while the file can't be used.
    public var count: Int { get async { await size().count } }

    /// The size of all stored responses, including their headers; 0 while the file can't be used.
    public var byteCount: Int { get async { await size().bytes } }

    private func size() async -> (count: Int, bytes: Int) {
        guard let cache = await opened() else { return (0, 0) }
        _ = await cache.queue.perform(.nothing)
        return (try? await cache.file.read { (records) throws(StorageError) in try records.size() }) ?? (0, 0)
    }
}

// MARK: Opening

extension DiskCache {
    /// Returns the open file, after opening it if necessary; nil if it can't be used.
    func opened() async -> OpenDiskCache? {
        let task = state.withLock { state -> Result<Task<OpenDiskCache?, Never>, Known> in
            switch state.phase {
            case .open(let cache): return .failure(Known(cache: cache))
            case .opening(let task): return .success(task)
            case .off(let end, _) where ContinuousClock.now < end: return .failure(Known(cache: nil))
            case .off, .closed:
                // A separate task, because other requests wait for the file too, even if the request that opens it is cancelled.
                let task = Task { await self.openFile() }
                state.phase = .opening(task)
                return .success(task)
            }
        }
        switch task {
        case .success(let task): return await task.value
        case .failure(let known): return known.cache
        }
    }

    private struct Known: Error {
        let cache: OpenDiskCache?
    }

    private func openFile() async -> OpenDiskCache? {
        do {
            let mayReplace = mayReplace
            let (file, problem) = try await CacheFile.open(path, key: source, byteLimit: byteLimit, mayRebuild: mayReplace)
            if let problem { noteReplaced(problem) }
            guard let digests = KeyedDigest.Key(file.digestKey) else {
                throw StorageError(.other, path, problem: "can't be used: libcrypto has no HMAC")
            }
            let queue = DiskQueue(file, entryByteLimit: entryByteLimit) { [weak self] error in
                Task { await self?.note(error, of: file) }
            }
            let cache = OpenDiskCache(file: file, digests: digests, queue: queue)
            while case let missed = state.withLock(\.missedChanges), missed > 0 {
                try await file.removeAll()
                state.withLock { $0.missedChanges -= missed }
            }
            // If another change was missed after that, the cache lacks it and must not open.
            let isOpen = state.withLock { state in
                guard state.missedChanges == 0 else { return false }
                state.phase = .open(cache)
                return true
            }
            guard isOpen else {
                throw StorageError(
                    .busy, path, problem: "lacks the latest change", remedy: "no action is needed: it will be emptied")
            }
            return cache
        } catch {
            switchOff(error)
            return nil
        }
    }

    private var mayReplace: Bool {
        state.withLock { state in state.replacedAt.map { ContinuousClock.now - $0 >= pause } ?? true }
    }

    private func noteReplaced(_ problem: StorageError) {
        state.withLock { $0.replacedAt = .now }
        logger?.warning("the cache was replaced by an empty one: \(problem)")
    }

    private func switchOff(_ error: any Error) {
        state.withLock { $0.phase = .off(until: .now + pause, error) }
        warn("the cache can't be used for now: \(error)")
    }

    /// Handles an error of the open file. If another file may be at the path now, returns after that was opened or has failed to
    /// open.
    private func note(_ error: StorageError, of file: CacheFile) async {
        switch error.code {
        // Another file is at the path by now, or the device fails. Opening the path again tells which.
        case .unavailable: _ = await reopened(file) {}
        case .damaged:
            _ = await reopened(file) { [self] in
                guard mayReplace else { return switchOff(error) }
                do throws(StorageError) {
                    if try await CacheFile.remove(path) { noteReplaced(error) }
                } catch { switchOff(error) }
            }
        default:
            // The response isn't stored, or isn't found.
            warn("a response was not cached: \(error)")
        }
    }

    /// Writes a line, unless it is the same as the last one.
    private func warn(_ line: String) {
        let isNew = state.withLock { state in
            defer { state.lastProblem = line }
            return state.lastProblem != line
        }
        if isNew { logger?.warning("\(line)") }
    }

    /// Opens the file again, unless another task has done so already.
    ///
    /// - Parameter prepare: called before the file is opened.
    private func reopened(_ file: CacheFile, _ prepare: @escaping @Sendable () async -> Void) async -> OpenDiskCache? {
        state.withLock { state in
            guard case .open(let cache) = state.phase, cache.file === file else { return }
            state.phase = .opening(
                Task {
                    await prepare()
                    if case .off = self.state.withLock(\.phase) { return nil }
                    return await self.openFile()
                })
        }
        return await opened()
    }
}

// MARK: The session's side

extension DiskCache: ResponseCache {
    func digestKey() async -> KeyedDigest.Key? {
        await opened()?.digests
    }

    func select(_ key: CacheKey, _ request: HTTPRequest) async -> CacheSelection {
        guard let cache = await opened() else { return CacheSelection() }
        await cache.queue.settle(key.resource)
        do throws(StorageError) {
            let digests = cache.digests
            let (entry, moment, damaged) = try await cache.file.read { (records) throws(StorageError) in
                let entry = try Self.entry(in: &records, key, request, digests)
                return (entry, records.moment, records.unopened)
            }
            if !damaged.isEmpty { cache.queue.add(.remove(damaged)) }
            if let entry { cache.queue.touch(entry.id) }
            return CacheSelection(entry: entry, place: DiskPlace(cache: cache, moment: moment))
        } catch {
            await note(error, of: cache.file)
            return CacheSelection()
        }
    }

    private static func entry(
        in records: inout CacheRecords, _ key: CacheKey, _ request: HTTPRequest, _ digests: KeyedDigest.Key
    ) throws(StorageError) -> CacheTable.Entry? {
        let candidates = try records.heads(for: key).filter { $0.value.vary.matches(request, digests) }
            .map { (head: $0, date: $0.value.response([]).date) }
        guard let selected = candidates.max(by: { $0.date < $1.date })?.head,
            let body = try records.body(of: selected.id, key.resource.bytes, selected.part.bytes)
        else { return nil }
        return CacheTable.Entry(id: Int(selected.id), vary: selected.value.vary, response: selected.value.response(body))
    }

    func begin(_ key: CacheKey) -> CacheTable.Flight? { nil }

    func end(
        _ flight: CacheTable.Flight?, _ change: CacheExchange.Change, for key: CacheKey, _ request: HTTPRequest,
        _ selection: CacheSelection
    ) {
        guard let place = selection.place else { return }
        var replacement = DiskOperation.Replacement(key: key, moment: place.moment, old: selection.entry?.id)
        switch change {
        case .none: return
        case .remove: break
        case .store(let response):
            if let vary = VaryKey(of: response.headers, for: request, place.cache.digests) {
                replacement.new = DiskOperation.Replacement.New(response: response, vary: vary)
            }
        }
        guard replacement.old != nil || replacement.new != nil else { return }
        place.cache.queue.add(.replace(replacement))
    }

    func invalidate(_ resources: @Sendable (KeyedDigest.Key) -> [KeyedDigest]) async {
        // After an error, the cache serves nothing, and the logger has been told.
        try? await remove { .invalidate(resources($0)) }
    }

    /// Removes responses from the file. If that fails, removes the file.
    private func remove(_ operation: (KeyedDigest.Key) -> DiskOperation) async throws(StorageError) {
        var file: CacheFile?
        for _ in 0..<3 {
            guard let cache = await opened() else { break }
            guard let error = await cache.queue.perform(operation(cache.digests)) else { return }
            file = cache.file
            // Tries again only if the file was replaced.
            guard error.code == .unavailable else {
                warn("a response could not be removed from the cache, so the whole file is removed: \(error)")
                break
            }
            await note(error, of: cache.file)
        }
        state.withLock { state in
            state.missedChanges += 1
            if case .open = state.phase { state.phase = .closed }
        }
        do throws(StorageError) {
            if let file, try await file.remove() { return }
            // Returns false for another program's file, which holds no responses.
            _ = try await CacheFile.remove(path)
        } catch {
            switchOff(error)
            throw error
        }
    }
}

/// A cache's file while it is open.
struct OpenDiskCache: Sendable {
    let file: CacheFile
    let digests: KeyedDigest.Key
    let queue: DiskQueue
}

/// A cache's file as a request found it. The request's response is stored in that file, unless the resource has changed in it
/// since.
struct DiskPlace: Sendable {
    let cache: OpenDiskCache
    let moment: CacheMoment
}
