internal import NevodPluginCrypto
internal import NevodPluginKit

extension DigestAlgorithm {
    /// The digest that the host computes of bodies, also of one that is a stream; nil for the other functions.
    init?(_ function: HashFunction) {
        switch function {
        case .sha256: self = .sha256
        case .sha384: self = .sha384
        case .sha512: self = .sha512
        default: return nil
        }
    }

    var bodyNeed: Needs {
        switch self {
        case .sha256: .sha256
        case .sha384: .sha384
        case .sha512: .sha512
        }
    }
}
