import NevodStorage
import NevodTestSupport
import Testing

@testable import NevodHost

/// A cache of either kind. The tests of the rules apply to both.
struct CacheUnderTest: Sendable {
    enum Kind: CaseIterable, Sendable {
        case inMemory, onDisk
    }

    @TaskLocal static var kind = Kind.inMemory

    private enum Store {
        case inMemory(InMemoryCache)
        case onDisk(DiskCache, TemporaryFolder)
    }

    private let store: Store

    init(byteLimit: Int = 32 << 20, entryByteLimit: Int = 4 << 20) throws {
        switch Self.kind {
        case .inMemory: store = .inMemory(InMemoryCache(byteLimit: byteLimit, entryByteLimit: entryByteLimit))
        case .onDisk:
            let folder = try TemporaryFolder()
            let cache = DiskCache(
                path: "\(folder.path)/responses.db", key: KeyFile(path: "\(folder.path)/key"), byteLimit: byteLimit,
                entryByteLimit: entryByteLimit)
            store = .onDisk(cache, folder)
        }
    }

    func session(_ base: any HTTPTransport, _ timeToLive: TimeToLive? = nil, _ clock: HostClock = .system) -> CachingSession {
        switch store {
        case .inMemory(let cache): CachingSession(base, store: cache, timeToLive: timeToLive, clock: clock)
        case .onDisk(let cache, _): CachingSession(base, store: cache, timeToLive: timeToLive, clock: clock)
        }
    }

    var count: Int {
        get async {
            switch store {
            case .inMemory(let cache): cache.count
            case .onDisk(let cache, _): await cache.count
            }
        }
    }

    var byteCount: Int {
        get async {
            switch store {
            case .inMemory(let cache): cache.byteCount
            case .onDisk(let cache, _): await cache.byteCount
            }
        }
    }

    func removeAll() async throws {
        switch store {
        case .inMemory(let cache): cache.removeAll()
        case .onDisk(let cache, _): try await cache.removeAll()
        }
    }
}

/// Runs each test once with a cache in memory, and once with one on disk.
struct EachCache: SuiteTrait, TestTrait, TestScoping {
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        // A suite's scope includes its tests, which have their own scopes.
        guard testCase != nil else { return try await function() }
        for kind in CacheUnderTest.Kind.allCases { try await CacheUnderTest.$kind.withValue(kind, operation: function) }
    }
}

extension Trait where Self == EachCache {
    static var eachCache: EachCache { EachCache() }
}
