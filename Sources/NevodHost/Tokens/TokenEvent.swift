internal import NevodSupport

/// A change of the stored token, with its reason. (``TokenStorage/changes``, in contrast, yields only the token that is now
/// stored.)
///
/// ```swift
/// for await event in storage.events {
///     if case .refused = event { showLogin() }
/// }
/// ```
///
/// A session ends with one event: ``refused(_:)`` or ``cleared``, whichever happens first. Both are reported, ``cleared`` first,
/// only if another process clears the token and the server then refuses a renewal that this process has begun.
public enum TokenEvent<Token: TokenModel>: Sendable {
    /// A token was saved, for example after a login, or another process stored one for any reason.
    case saved(Token)
    /// The server issued a token that replaced the stored one: in an interceptor's renewal or login, or in a response.
    case renewed(Token)
    /// The server refused to renew the token, for this reason, and the token was cleared. Each reader gets this event once for
    /// each session, however many requests needed the renewal. The user has to log in again.
    case refused(any Error)
    /// The token was cleared: this program logged out, or the session ended in another process.
    case cleared

    /// The token that is now stored; nil if none is.
    public var token: Token? {
        switch self {
        case .saved(let token), .renewed(let token): token
        case .refused, .cleared: nil
        }
    }
}

extension TokenEvent: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Describes the event without the token.
    public var description: String {
        switch self {
        case .saved: "a token was saved"
        case .renewed: "the token was renewed"
        case .refused(let error): "the server refused to renew the token: \(error)"
        case .cleared: "the token was cleared"
        }
    }

    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

/// News for a storage's readers after a change.
struct TokenNews<Token: TokenModel>: Sendable {
    /// The token that is now stored, for readers of the changes; nil if there is nothing new for them.
    let change: Token??
    /// The news for readers of the events; nil if there is none for them.
    let event: TokenEvent<Token>?
}

/// Why a token is written.
enum TokenWriteCause: Sendable {
    /// A login or logout by the program.
    case program
    /// The server has issued the token.
    case renewal
    /// The server has refused to renew the stored token, for this reason.
    case refusal(any Error)

    var refusal: (any Error)? {
        if case .refusal(let error) = self { error } else { nil }
    }

    /// - Parameters:
    ///   - token: the token that is now stored; nil if it was cleared.
    ///   - hadToken: whether one was stored before, as far as this process knows.
    func event<Token: TokenModel>(for token: Token?, hadToken: Bool) -> TokenEvent<Token>? {
        switch (token, self) {
        case (let token?, .program): .saved(token)
        case (let token?, _): .renewed(token)
        case (nil, _) where !hadToken: nil
        case (nil, .refusal(let error)): .refused(error)
        case (nil, _): .cleared
        }
    }
}

// MARK: Readers

extension TokenCoordinator {
    func changes() -> AsyncStream<Token?> {
        let (stream, id) = observers.add()
        if let task = readingChanges() { observers.onTermination(of: id) { task.cancel() } }
        return stream
    }

    func events() -> AsyncStream<TokenEvent<Token>> {
        let (stream, id) = eventObservers.add(keeping: 256)
        if let task = readingChanges() { eventObservers.onTermination(of: id) { task.cancel() } }
        return stream
    }

    /// Reads the token whenever the storage reports that another process has changed it; nil if the storage doesn't report
    /// changes.
    private func readingChanges() -> Task<Void, Never>? {
        guard let changes = storage.changes else { return nil }
        let key = key
        return Task { [weak self] in
            let changes = await changes()
            // The token may have changed after the reader subscribed, but before the storage began to report to this task.
            if self?.memory.withLock(\.isKnown) == true { _ = try? await self?.read() }
            for await changed in changes where changed == key { _ = try? await self?.read() }
        }
    }

    /// Tells readers about the changes so far, in the order in which they happened, whichever threads made them.
    func tellReaders() {
        while let news = memory.withLock({ $0.takeNews() }) {
            for item in news {
                if let change = item.change { observers.yield(change) }
                if let event = item.event { eventObservers.yield(event) }
            }
            memory.withLock { $0.didTell() }
        }
    }
}
