internal import NevodHost
internal import NevodJWT
internal import NevodSupport

/// Fetches the keys of an issuer once.
struct KeySetLoader: Sendable {
    enum Source: Sendable {
        /// The URL of a key set (RFC 7517 §5).
        case keys(String)
        /// An issuer, whose metadata names the URL (RFC 8414).
        case issuer(String)
    }

    let source: Source
    let session: CachingSession
    let settings: RemoteKeySet.Settings
    let clock: HostClock

    private static let symmetric: Set<JWTAlgorithm> = [.hs256, .hs384, .hs512]

    /// - Parameter reloads: whether to ask the server even if a stored response could be used.
    func load(reloads: Bool) async throws(RemoteKeyError) -> JSONWebKeySet {
        // The deadline of all requests together.
        let end = ContinuousClock.now + min(settings.timeout, .seconds(Int32.max))
        switch source {
        case .keys(let url): return try await keys(at: url, reloads, until: end)
        case .issuer(let issuer): return try await keys(at: try await keysURL(of: issuer, until: end), reloads, until: end)
        }
    }

    private func keys(
        at url: String, _ reloads: Bool, until end: ContinuousClock.Instant
    ) async throws(RemoteKeyError) -> JSONWebKeySet {
        let body = try await body(at: url, reloads, until: end)
        let set: JSONWebKeySet
        do throws(JWTError) { set = try JSONWebKeySet(json: body) } catch {
            throw RemoteKeyError(.unreadable, url, "not a key set (RFC 7517 §5): \(error)", underlying: error)
        }
        // A symmetric key that anyone can fetch isn't secret: anyone could sign with it (RFC 8725 §3.1).
        let keys = set.keys.filter { $0.algorithms.allSatisfy { !Self.symmetric.contains($0) } }
        guard !keys.isEmpty else { throw RemoteKeyError(.empty, url, "the set has no usable public key") }
        guard keys.count <= settings.maximumKeys else {
            throw RemoteKeyError(.unreadable, url, "the set has \(keys.count) keys; the limit is \(settings.maximumKeys)")
        }
        return JSONWebKeySet(keys)
    }

    /// Reads `jwks_uri` from the issuer's metadata, at OpenID Connect's location or else at RFC 8414's (§3).
    private func keysURL(of issuer: String, until end: ContinuousClock.Instant) async throws(RemoteKeyError) -> String {
        let request = try request(issuer)
        let path = request.target.hasSuffix("/") ? String(request.target.dropLast()) : request.target
        guard !request.target.contains("?") else {
            throw RemoteKeyError(.url, issuer, "an issuer's URL must not have a query (RFC 8414 §2)")
        }
        let url = "\(request.origin)\(path)/.well-known/openid-configuration"
        let body: [UInt8]
        do throws(RemoteKeyError) { body = try await self.body(at: url, false, until: end) } catch {
            guard case NetworkError.clientError(404, _, _)? = error.underlying else { throw error }
            return try metadata(
                await self.body(at: "\(request.origin)/.well-known/oauth-authorization-server\(path)", false, until: end), url,
                issuer)
        }
        return try metadata(body, url, issuer)
    }

    private func metadata(_ body: [UInt8], _ url: String, _ issuer: String) throws(RemoteKeyError) -> String {
        guard let metadata = try? JSONValue(response: body) else {
            throw RemoteKeyError(.metadata, url, "the metadata is not a JSON object (RFC 8414 §3.2)")
        }
        // Otherwise one issuer's server could speak for another (RFC 8414 §3.3).
        guard metadata["issuer"]?.string == issuer else {
            throw RemoteKeyError(
                .metadata, url, "the metadata is for an issuer other than \(issuer); both must be equal, byte by byte")
        }
        guard let keys = metadata["jwks_uri"]?.string else {
            throw RemoteKeyError(.metadata, url, "the metadata has no jwks_uri")
        }
        return keys
    }

    private func body(
        at url: String, _ reloads: Bool, until end: ContinuousClock.Instant
    ) async throws(RemoteKeyError) -> [UInt8] {
        var request = try request(url)
        do throws(InvalidRequestError) {
            try request.setHeader("Accept", "application/json, application/jwk-set+json")
            let ceiling = max(0, settings.maximumAge.components.seconds)
            try request.setHeader("Cache-Control", reloads ? "no-cache" : "max-age=\(ceiling)")
        } catch {
            throw RemoteKeyError(.url, url, "\(error)", underlying: error)
        }
        let provider = NetworkProvider(session: session, interceptor: OneOrigin(origin: request.origin))
        let response: HTTPResponse
        do throws(NetworkError) {
            response = try await provider.send(
                request,
                RequestOptions(
                    timeout: max(.zero, end - .now), delivery: .collected(limit: settings.maximumSize),
                    redirects: .follow(limit: 3),
                    retryPolicy: RetryPolicy.none))
        } catch {
            throw RemoteKeyError(Self.code(of: error), url, "\(error)", underlying: error)
        }
        if let error = NetworkError(response) {
            throw RemoteKeyError(
                .unavailable, url, "\(error)", underlying: error, retryAfter: response.retryAfter(now: clock.now))
        }
        guard case .bytes(let body) = response.body else { return [] }
        return body
    }

    private static func code(of error: NetworkError) -> RemoteKeyError.Code {
        if case .invalidResponse(let error) = error, case .bodyTooLarge = error.code { .unreadable } else { .unavailable }
    }

    private func request(_ url: String) throws(RemoteKeyError) -> HTTPRequest {
        let request: HTTPRequest
        do throws(InvalidRequestError) { request = try HTTPRequest(.get, url) } catch {
            throw RemoteKeyError(.url, url, "\(error.problem)", underlying: error)
        }
        guard request.origin.isAuthentic else {
            throw RemoteKeyError(.url, url, "keys are fetched only over https, or from this machine")
        }
        return request
    }
}

/// Fails a request that is redirected to another origin: another server must not choose the keys.
private struct OneOrigin: RequestInterceptor {
    let origin: Origin

    func adapt(_ exchange: inout Exchange) async throws {
        guard exchange.request.origin == origin else { throw OtherOriginError(origin: exchange.request.origin) }
    }
}

private struct OtherOriginError: Error, CustomStringConvertible {
    let origin: Origin

    var description: String { "redirected to another origin, \(origin); give the final URL instead" }
}
