public import NevodHost
public import NevodJWT
internal import NevodStorage
internal import NevodSupport

/// An issuer's keys, fetched on demand and cached for the time that the issuer allows (RFC 9111), within bounds.
///
/// ```swift
/// let keys = RemoteKeySet(url: "https://login.example.com/jwks.json")
/// let claims = try await verifier.verify(text, with: keys, at: Date().timeIntervalSince1970)
/// ```
///
/// - Concurrent verifications share one fetch.
/// - A token with an unknown key may mean that the issuer has new keys, so the set is fetched again: at most once in each
///   ``Settings/unknownKeyInterval``, however many such tokens arrive.
/// - If a fetch fails or returns no usable key, the known keys stay in use, up to ``Settings/maximumStaleness``. The fetch is
///   repeated after a pause that grows from 1 s to 60 s, or that the server asks for. A logger receives a line for each failure.
/// - Keys are fetched only over TLS or from this machine, and redirects are followed only within the origin. Secret keys in a set
///   are ignored.
public final class RemoteKeySet: JWTKeySource {
    /// The bounds of fetches.
    public struct Settings: Sendable, Hashable {
        /// Up to this age, keys are used whatever the issuer says about their freshness. Protects the issuer from a fetch for
        /// each token.
        public var minimumAge = Duration.seconds(300)
        /// From this age on, keys are fetched again, even if the issuer calls them fresh for longer. In whole seconds.
        public var maximumAge = Duration.seconds(86_400)
        /// Tokens with unknown keys cause at most one fetch in each interval.
        public var unknownKeyInterval = Duration.seconds(300)
        /// While fetches fail, keys are used until this long after the last successful fetch; at least ``minimumAge``.
        public var maximumStaleness = Duration.seconds(86_400)
        /// The largest response, in bytes.
        public var maximumSize = 256 << 10
        /// The most keys in a set.
        public var maximumKeys = 100
        /// The timeout of one fetch, for the issuer's metadata and its keys together.
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

    /// The keys of an issuer, at the `jwks_uri` of its metadata: `/.well-known/openid-configuration` (OpenID Connect Discovery
    /// 1.0 §4), or `/.well-known/oauth-authorization-server` (RFC 8414 §3). The metadata must name the same issuer.
    ///
    /// - Parameters:
    ///   - issuer: the issuer, as in `iss`.
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

    /// Returns the keys for a token; an empty array if the issuer has none for it.
    ///
    /// - Throws: ``RemoteKeyError`` if no keys are known and none can be fetched; `CancellationError`.
    public func keys(for header: JWTHeader) async throws -> [JSONWebKey] {
        try await set { !$0.keys(for: header).isEmpty }.keys(for: header)
    }

    /// Fetches the keys if none are known, for example before a renewal whose tokens must be verified.
    ///
    /// - Throws: the same errors as ``keys(for:)``.
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

/// Why the keys of an issuer could not be fetched.
public struct RemoteKeyError: Error, Sendable, VerificationFailure, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: Sendable, Hashable {
        /// The URL isn't absolute, or is neither https nor on this machine.
        case url
        /// No response, a redirect to another origin, or a status other than 200.
        case unavailable
        /// The response isn't a key set, or has more keys or bytes than allowed.
        case unreadable
        /// The set has no key that can verify a signature.
        case empty
        /// The issuer's metadata is for another issuer, or has no usable `jwks_uri`.
        case metadata
    }

    /// The kind of failure.
    public let code: Code
    /// The URL that was fetched, without its query.
    public let url: String
    /// The problem, worded to follow the URL.
    public let problem: String
    /// The underlying error; nil if there is none.
    public let underlying: (any Error)?
    /// The pause that the server asked for.
    let retryAfter: Duration?

    init(_ code: Code, _ url: String, _ problem: String, underlying: (any Error)? = nil, retryAfter: Duration? = nil) {
        self.code = code
        self.url = String(url.prefix { $0 != "?" })
        self.problem = problem
        self.underlying = underlying
        self.retryAfter = retryAfter
    }

    public var description: String { "the keys of \(url): \(problem)" }
}
