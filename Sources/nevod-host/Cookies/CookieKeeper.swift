import NevodHost
import NevodSupport

/// A jar of cookies that several requests share.
final class CookieKeeper: Sendable {
    let jar: Locked<CookieJar>

    init(_ cookies: [Cookie]) { jar = Locked(CookieJar(cookies)) }

    /// In the order of their creation; expired ones are left out.
    var cookies: [Cookie] {
        let now = HostClock.system.now
        return jar.withLock { Array($0) }.filter { cookie in cookie.expires.map { $0 > now } ?? true }
    }
}
