public import NevodHost

/// Requires a ``Presence`` for each request that may carry a credential, before a token is read, renewed or sent.
///
/// ```swift
/// let client = AuthenticatingHTTPClient(
///     baseURL: "https://api.example.com/v1", tokenProvider: tokenProvider,
///     interceptors: [PresenceInterceptor(presence)])
/// ```
///
/// - A request needs no presence if its route needs no credential (`auth: .none`), such as a login, or after a redirect to
///   another origin.
/// - Concurrent requests share one question, and wait without a connection. Their timeouts keep running meanwhile: call
///   ``Presence/confirm()`` first if a person may take longer.
/// - A failed check fails the request with `NetworkError.interceptor` and a ``PresenceError``. Nothing is sent or removed.
/// - A request that is sent again, for example with a renewed token, doesn't ask a second time, unless ``Presence/forget()`` was
///   called.
///
/// The storage never asks: not when it is cleared, not in `isDueForRenewal()`, and not for an observer of changes. An app that
/// uses stored tokens itself calls ``Presence/confirm()`` first. A logout request carries a token; exempt it with a filter:
///
/// ```swift
/// PresenceInterceptor(presence, for: .all.except(.route { $0.endpoint == "/auth/logout" }))
/// ```
public struct PresenceInterceptor: RequestInterceptor {
    private let presence: Presence
    private let requests: RequestFilter

    /// - Parameters:
    ///   - presence: the required presence. Several clients may share one.
    ///   - requests: the requests that need the presence, among those that may carry a credential.
    public init(_ presence: Presence, for requests: RequestFilter = .all) {
        self.presence = presence
        self.requests = requests
    }

    public func adapt(_ exchange: inout Exchange) async throws {
        guard exchange.mayCarryCredentials, exchange.route?.auth != AuthRequirement.none, requests.matches(exchange.request)
        else { return }
        // The first attempt was confirmed.
        if exchange.attempt > 1, presence.isRemembered { return }
        if presence.isConfirmed, presence.validFor > .zero { return }
        let presence = presence
        let deadline = exchange.deadline
        try await exchange.yieldingSlot { try await presence.confirm(until: deadline) }
    }
}
