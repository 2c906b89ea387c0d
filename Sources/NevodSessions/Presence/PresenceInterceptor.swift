public import NevodHost

/// Demands a ``Presence`` of each request that may carry a credential, before a token is read, renewed or sent.
///
/// ```swift
/// let client = AuthenticatingHTTPClient(
///     baseURL: "https://api.example.com/v1", tokenProvider: tokenProvider,
///     interceptors: [PresenceInterceptor(presence)])
/// ```
///
/// - A request whose route needs no credential (`auth: .none`), such as a login, is not asked for anything, nor is one that a
///   redirect has led to another origin.
/// - Requests that need the confirmation at once share one question, and wait without a connection. Their timeout goes on meanwhile:
///   call ``Presence/confirm()`` first if a person may take longer.
/// - A check that fails fails the request with `NetworkError.interceptor` and a ``PresenceError``. Nothing is sent or removed.
/// - A request that is sent again, as with a renewed token, is not asked a second time, unless ``Presence/forget()`` was called.
///
/// The storage asks nothing: neither when it is cleared, nor by `isDueForRenewal()`, nor for an observer of changes. An app that uses
/// stored tokens by itself calls ``Presence/confirm()`` before. The request of a logout carries a token; leave it out with a filter:
///
/// ```swift
/// PresenceInterceptor(presence, for: .all.except(.route { $0.endpoint == "/auth/logout" }))
/// ```
public struct PresenceInterceptor: RequestInterceptor {
    private let presence: Presence
    private let requests: RequestFilter

    /// - Parameters:
    ///   - presence: the presence to demand. Several clients may share one.
    ///   - requests: the requests that need it, among those that may carry a credential.
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
