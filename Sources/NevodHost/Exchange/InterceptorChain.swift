/// Combines several interceptors: `adapt` runs first to last, `retry` last to first. Interceptors of the signature phase come
/// after all others.
public struct InterceptorChain: RequestInterceptor {
    let all: [any RequestInterceptor]
    let credentials: [any RequestInterceptor]
    let signatures: [any RequestInterceptor]
    public let mayBlock: Bool
    public let provides: Set<AuthRequirement>
    private let observers: [any OutcomeObserver]
    let declaring: [any ParameterDeclaring]
    private let readers: [any ResponseReader]

    /// - Parameter interceptors: the interceptors in order. Nested chains are flattened.
    public init(_ interceptors: [any RequestInterceptor]) {
        let flat = interceptors.flatMap { ($0 as? InterceptorChain)?.all ?? [$0] }
        credentials = flat.filter { $0.phase == .credential }
        signatures = flat.filter { $0.phase == .signature }
        all = credentials + signatures
        declaring = all.compactMap { ($0 as? any ParameterTaking)?.parameterDeclaring }
        mayBlock = all.contains(where: \.mayBlock)
        provides = all.reduce([]) { $0.union($1.provides) }
        observers = all.reversed().compactMap { LimitedObserver($0) ?? $0 as? any OutcomeObserver }
        readers = all.reversed().compactMap { LimitedReader($0) ?? $0 as? any ResponseReader }.filter(\.readsBodies)
    }

    public func adapt(_ exchange: inout Exchange) async throws {
        try await adapt(&exchange, with: all)
    }

    func adapt(_ exchange: inout Exchange, with interceptors: [any RequestInterceptor]) async throws {
        let route = exchange.request.route
        for interceptor in interceptors where Self.mayRun(interceptor, for: route) {
            try exchange.work?.check()
            do { try await interceptor.adapt(&exchange) } catch { throw InterceptorError.naming(interceptor, error) }
            // Restores the route, in case an interceptor has made a new request without it.
            if !RouteDescription.isSame(exchange.request.route, route) { exchange.request.route = route }
            if let route, route.auth != .automatic, !exchange.hasCredential, !(interceptor is any CredentialInterceptor) {
                exchange.hasCredential = interceptor.provides.contains(route.auth)
            }
        }
    }

    /// Asks the interceptors last to first, and stops at the first that wants a retry.
    public func retry(
        _ exchange: inout Exchange, after outcome: Result<HTTPResponse, TransportError>
    ) async throws -> Bool {
        for interceptor in all.reversed() where Self.mayRun(interceptor, for: exchange.request.route) {
            try exchange.work?.check()
            do {
                if try await interceptor.retry(&exchange, after: outcome) { return true }
            } catch {
                throw InterceptorError.naming(interceptor, error)
            }
        }
        return false
    }

    /// Whether any interceptor reads the bodies of responses.
    var readsBodies: Bool { !readers.isEmpty }

    /// Whether any interceptor needs every byte of the response to this request.
    func readsWholeBody(of exchange: Exchange) -> Bool {
        readers.contains { $0.readsWholeBody(of: exchange) }
    }

    /// Passes a response through the interceptors that read bodies.
    ///
    /// - Parameter decodesContent: whether the transport decodes content codings.
    func read(
        _ outcome: Result<HTTPResponse, TransportError>, decodesContent: Bool, _ exchange: inout Exchange
    ) async -> Result<HTTPResponse, TransportError> {
        guard case .success(var response) = outcome else { return outcome }
        let isDecoded = decodesContent && response.headers.contains("Content-Encoding")
        do throws(TransportError) {
            for reader in readers { response = try await reader.read(response, isDecoded: isDecoded, &exchange) }
            if exchange.readsWholeBody, case .collected(let limit) = exchange.options.delivery {
                response = response.with(.bytes(try await response.body.collect(upTo: limit)))
            }
            return .success(response)
        } catch {
            return .failure(error)
        }
    }

    func observe(_ exchange: Exchange, _ outcome: Result<HTTPResponse, TransportError>) async {
        for observer in observers { await observer.observe(exchange, outcome) }
    }
}

/// An interceptor's error with the interceptor's name.
struct InterceptorError: Error {
    let name: String
    let underlying: any Error

    /// Adds the interceptor's name to an error. Returns cancellation, and errors that already explain themselves, unchanged.
    static func naming(_ interceptor: any RequestInterceptor, _ error: any Error) -> any Error {
        switch error {
        case is CancellationError, is NetworkError, is InterceptorError: error
        default: InterceptorError(name: "\(type(of: interceptor))", underlying: error)
        }
    }
}
