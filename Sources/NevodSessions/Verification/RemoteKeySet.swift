public import NevodHost
public import NevodJWT
internal import NevodStorage
internal import NevodSupport

/// The keys of an issuer, fetched when they are needed and kept as long as the issuer says (RFC 9111), within bounds.
///
/// ```swift
/// let keys = RemoteKeySet(url: "https://login.example.com/jwks.json")
/// let claims = try await verifier.verify(text, with: keys, at: Date().timeIntervalSince1970)
/// ```
///
/// - Verifications that need the keys at once share one fetch.
/// - A token whose key isn't in the set may mean that the issuer has new keys: the set is fetched, once for each
///   ``Settings/unknownKeyInterval``, however many such tokens arrive.
/// - A fetch that fails, or returns no usable key, leaves the known keys in use, up to ``Settings/maximumStaleness``. It is repeated after
///   a pause that grows from 1 s to 60 s, or that the server asks for. A logger receives a line for each.
/// - Keys come over TLS or from this machine, and redirects are followed within the origin only. Secret keys in a set are ignored.
public final class RemoteKeySet: JWTKeySource {
    /// The bounds of fetches.
    public struct Settings: Sendable, Hashable {
        /// The age up to which keys are used without looking at what the issuer says about their freshness. Guards the issuer against a
        /// fetch for each token.
        public var minimumAge = Duration.seconds(300)
        /// The age from which on keys are fetched again, even if the issuer calls them fresh for longer. In whole seconds.
        public var maximumAge = Duration.seconds(86_400)
        /// At most one fetch in each interval is caused by tokens with unknown keys.
        public var unknownKeyInterval = Duration.seconds(300)
        /// How long after the last fetch that succeeded keys are used while fetches fail; at least ``minimumAge``.
        public var maximumStaleness = Duration.seconds(86_400)
        /// The largest response, in bytes.
        public var maximumSize = 256 << 10
        /// The most keys in a set.
        public var maximumKeys = 100
        /// The limit for one fetch, of the issuer's metadata and its keys together.
        public var timeout = Duration.seconds(10)

        /// Creates the default bounds.
        public init() {}
    }

    private let loader: KeySetLoader
    private let clock: HostClock
    private let logger: (any NetworkLogger)?
    private let schedule: Locked<KeySetSchedule>
    private let flight = SingleFlight<Void>()

    /// The keys of a key set (RFC 7517 §5).
    ///
    /// - Parameters:
    ///   - url: the URL of the set: https, unless the server is on this machine.
    ///   - settings: the bounds of fetches.
    ///   - session: the transport. Requests carry no credential.
    ///   - logger: receives a line for each fetch that fails.
    ///   - clock: measures the ages of keys.
    public convenience init(
        url: some URLRepresentation, settings: Settings = Settings(), session: any HTTPTransport = CurlSession(),
        logger: (any NetworkLogger)? = nil, clock: HostClock = .system
    ) {
        self.init(.keys(url.urlString), settings, session, logger, clock)
    }

    /// The keys of an issuer, at the `jwks_uri` of its metadata: `/.well-known/openid-configuration` (OpenID Connect Discovery 1.0 §4), or
    /// `/.well-known/oauth-authorization-server` (RFC 8414 §3). The metadata must name the same issuer.
    ///
    /// - Parameters:
    ///   - issuer: the issuer, as it is in `iss`.
    ///   - settings: the bounds of fetches.
    ///   - session: the transport. Requests carry no credential.
    ///   - logger: receives a line for each fetch that fails.
    ///   - clock: measures the ages of keys.
    public convenience init(
        issuer: some URLRepresentation, settings: Settings = Settings(), session: any HTTPTransport = CurlSession(),
        logger: (any NetworkLogger)? = nil, clock: HostClock = .system
    ) {
        self.init(.issuer(issuer.urlString), settings, session, logger, clock)
    }

    private init(
        _ source: KeySetLoader.Source, _ settings: Settings, _ session: any HTTPTransport, _ logger: (any NetworkLogger)?,
        _ clock: HostClock
    ) {
        let store = InMemoryCache(byteLimit: 4 << 20)
        loader = KeySetLoader(
            source: source, session: CachingSession(session, store: store, clock: clock), settings: settings,
            clock: clock)
        self.logger = logger
        self.clock = clock
        schedule = Locked(KeySetSchedule(settings))
    }

    /// Returns the keys for a token; none if the issuer has none for it.
    ///
    /// - Throws: ``RemoteKeyError`` if no keys are known and none can be fetched; `CancellationError`.
    public func keys(for header: JWTHeader) async throws -> [JSONWebKey] {
        try await set { !$0.keys(for: header).isEmpty }.keys(for: header)
    }

    /// Fetches the keys if none are known, as before a renewal whose result must be verified.
    ///
    /// - Throws: as ``keys(for:)``.
    public func load() async throws {
        _ = try await set { _ in true }
    }

    private func set(fits: @escaping @Sendable (JSONWebKeySet) -> Bool) async throws -> JSONWebKeySet {
        var joined: KeySetSchedule.Fetch?
        while true {
            let now = clock.now
            switch schedule.withLock({ $0.next(after: joined, at: now, fits: fits) }) {
            case .use(let set): return set
            case .useAndFetch(let set, let fetch):
                Task { try? await self.join(fetch, fits) }
                return set
            case .fetch(let fetch):
                try await join(fetch, fits)
                joined = fetch
            case .fail(let error): throw error
            }
        }
    }

    private func join(
        _ fetch: KeySetSchedule.Fetch, _ fits: @escaping @Sendable (JSONWebKeySet) -> Bool
    ) async throws {
        try await flight.join(until: nil) { [self] in
            let start = clock.now
            guard schedule.withLock({ $0.begin(fetch, at: start) }) else { return }
            let result: Result<JSONWebKeySet, RemoteKeyError>
            do throws(RemoteKeyError) { result = .success(try await loader.load(reloads: fetch.reloads)) } catch {
                logger?.warning(
                    "the keys of an issuer could not be fetched; known keys stay in use for a time", ["error": "\(error)"])
                result = .failure(error)
            }
            let now = clock.now
            schedule.withLock { $0.finish(result, at: now, fits: fits) }
        }
    }
}
