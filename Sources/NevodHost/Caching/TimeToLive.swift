/// A client's own lifetime for the successes that a ``CachingSession`` stores: responses to GET with status 200, 203 or 204. Other
/// statuses have the lifetime that the server states, or that RFC 9111 §4.2.2 suggests.
///
/// Either form leaves what the server says otherwise in force: `no-store` keeps a response out of the cache, `no-cache` has it
/// validated before each use, `private` keeps it to its user, `Vary` selects it, and one with Set-Cookie is stored only if it is
/// `public`. Ages count as those of other responses do (RFC 9111 §4.2.3).
public enum TimeToLive: Sendable, Hashable {
    /// For responses whose server states no lifetime, by neither `max-age` nor `Expires`: there RFC 9111 §4.2.2 lets a client choose.
    case unlessStated(Duration)
    /// In place of the lifetime that the server states, shorter or longer, unless it says `must-revalidate`. This departs from
    /// RFC 9111 §4.2.2: it is for a server that is known to mark responses as stale which aren't.
    case always(Duration)

    /// A number of seconds for responses whose server states no lifetime.
    public static func seconds(_ count: Int) -> TimeToLive { .unlessStated(.seconds(count)) }
}

extension TimeToLive {
    private static let statuses: Set<Int> = [200, 203, 204]

    /// The lifetime of a response; nil if the server's counts.
    func lifetime(of response: StoredResponse) -> Duration? {
        guard Self.statuses.contains(response.status) else { return nil }
        switch self {
        case .unlessStated(let duration):
            return response.statedLifetime == nil ? max(.zero, duration) : nil
        case .always(let duration):
            return response.control.contains("must-revalidate") ? nil : max(.zero, duration)
        }
    }
}
