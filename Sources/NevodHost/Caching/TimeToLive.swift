/// A client's own lifetime for the successful responses that a ``CachingSession`` stores: responses to GET with status 200, 203
/// or 204. Other statuses have the lifetime that the server states, or that RFC 9111 §4.2.2 suggests.
///
/// With either form, the server's other directives stay in force: `no-store` keeps a response out of the cache, `no-cache` has it
/// validated before each use, `private` keeps it to its user, and `Vary` limits it to matching requests. A response with
/// Set-Cookie is stored only if it is `public`. Ages are counted as for other responses (RFC 9111 §4.2.3).
public enum TimeToLive: Sendable, Hashable {
    /// For responses with neither `max-age` nor `Expires`: RFC 9111 §4.2.2 lets a client choose their lifetime.
    case unlessStated(Duration)
    /// Replaces the lifetime that the server states with a shorter or longer one, unless the server says `must-revalidate`. This
    /// departs from RFC 9111 §4.2.2. Use it for a server that is known to mark fresh responses as stale.
    case always(Duration)

    /// A number of seconds for responses whose server states no lifetime.
    public static func seconds(_ count: Int) -> TimeToLive { .unlessStated(.seconds(count)) }
}

extension TimeToLive {
    private static let statuses: Set<Int> = [200, 203, 204]

    /// The lifetime of a response; nil if the server's lifetime applies.
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
