internal import NevodPluginKit

enum HashAlgorithm: String, CaseIterable, SettingValue {
    case sha256, sha384, sha512

    /// OpenSSL's name of the algorithm.
    var name: String {
        switch self {
        case .sha256: "SHA256"
        case .sha384: "SHA384"
        case .sha512: "SHA512"
        }
    }

    /// The digest's size in bytes.
    var size: Int {
        switch self {
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
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
