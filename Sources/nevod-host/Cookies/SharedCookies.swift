import NevodHost
import NevodSupport

/// The cookies of `-b` and `-c`: one jar for all requests that have the same of these flags.
final class SharedCookies: Sendable {
    private let options: CookieOptions
    private let jar = Locked<CookieKeeper?>(nil)

    init(_ options: CookieOptions) { self.options = options }

    /// Returns the transport with the cookies; the given one if none are kept.
    func transport(_ transport: any HTTPTransport, for request: HTTPRequest) throws -> any HTTPTransport {
        let keeper = try jar.withLock { jar in
            if jar == nil { jar = try options.keeper(for: request) }
            return jar
        }
        return keeper.map { CookieTransport(transport, $0) } ?? transport
    }

    /// Writes the file of `-c`.
    func save() throws {
        if let keeper = jar.withLock({ $0 }) { try options.save(keeper) }
    }
}
