internal import NevodHost
internal import NevodJWT

/// Facts about the tokens that were used last, for statistics. No token is kept: a hash with the process's random key tells them apart.
struct SeenTokens: Sendable {
    struct Facts: Sendable {
        /// When the token was issued, as its claim `iat` says (RFC 7519 §4.1.6), or when it was first seen.
        let issuedAt: UnixTime
        let user: String?
    }

    private let limit: Int
    private var facts: [Int: Facts] = [:]
    /// The hashes in the order in which they came.
    private var order: [Int] = []
    private var oldest = 0

    init(limit: Int = 1024) {
        self.limit = limit
    }

    mutating func facts(of token: String, _ users: UserLabel, at now: UnixTime) -> Facts {
        var hasher = Hasher()
        hasher.combine(token)
        let hash = hasher.finalize()
        if let known = facts[hash] { return known }
        let claims = (try? JSONWebToken(token))?.unverifiedClaims
        let issued = claims?.issuedAt.flatMap(UnixTime.init(numericDate:))
        let new = Facts(issuedAt: issued ?? now, user: claims.flatMap { users.label?($0) })
        if order.count < limit {
            order.append(hash)
        } else {
            facts[order[oldest]] = nil
            order[oldest] = hash
            oldest = (oldest + 1) % limit
        }
        facts[hash] = new
        return new
    }
}
