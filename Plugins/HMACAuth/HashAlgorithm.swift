internal import NevodPluginCrypto
internal import NevodPluginKit

/// The hash functions that the host computes of bodies, too.
enum HashAlgorithm: String, CaseIterable, SettingValue {
    case sha256, sha384, sha512

    var function: HashFunction {
        switch self {
        case .sha256: .sha256
        case .sha384: .sha384
        case .sha512: .sha512
        }
    }

    var digest: DigestAlgorithm {
        switch self {
        case .sha256: .sha256
        case .sha384: .sha384
        case .sha512: .sha512
        }
    }

    var need: Needs {
        switch self {
        case .sha256: .sha256
        case .sha384: .sha384
        case .sha512: .sha512
        }
    }
}
