internal import NevodCrypto

extension JWTAlgorithm {
    /// The operation of an algorithm, apart from its hash.
    enum Family: Sendable {
        case hmac, rsa, rsaPSS, ecdsa, edwards
    }

    /// The names of algorithms, for a message.
    static func list(_ algorithms: [JWTAlgorithm]) -> String {
        algorithms.map { $0.rawValue }.joined(separator: ", ")
    }

    var family: Family {
        switch self {
        case .hs256, .hs384, .hs512: .hmac
        case .rs256, .rs384, .rs512: .rsa
        case .ps256, .ps384, .ps512: .rsaPSS
        case .es256, .es384, .es512: .ecdsa
        case .edDSA: .edwards
        }
    }

    /// Nil for EdDSA, whose hash is part of it.
    var hash: HashMethod? {
        switch self {
        case .hs256, .rs256, .ps256, .es256: .sha256
        case .hs384, .rs384, .ps384, .es384: .sha384
        case .hs512, .rs512, .ps512, .es512: .sha512
        case .edDSA: nil
        }
    }
}
