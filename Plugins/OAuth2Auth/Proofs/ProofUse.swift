internal import NevodPluginKit

/// Whether tokens are bound to a key of this client (RFC 9449).
enum ProofUse: String, CaseIterable, SettingValue {
    /// Bearer tokens.
    case off
    /// Bound to a key if the server's metadata name an algorithm of this client (`dpop_signing_alg_values_supported`, §5.1).
    case auto
    /// Bound to a key, or refused.
    case required

    /// The algorithm of a new key.
    ///
    /// - Parameters:
    ///   - wanted: the setting's; nil for any.
    ///   - supported: those of the server's metadata; empty if unknown.
    /// - Returns: nil for bearer tokens.
    /// - Throws: ``SchemeError/unsupported(_:)`` if a key is required, and the server takes none of that algorithm.
    func algorithm(_ wanted: ProofAlgorithm?, among supported: [String]) throws(SchemeError) -> ProofAlgorithm? {
        let own = wanted.map { [$0] } ?? ProofAlgorithm.allCases
        let common = own.first { algorithm in supported.contains { $0.utf8.elementsEqual(algorithm.rawValue.utf8) } }
        switch self {
        case .off: return nil
        case .auto: return common
        case .required:
            guard let algorithm = supported.isEmpty ? own.first : common else {
                let names = own.map { $0.rawValue }.joined(separator: ", ")
                throw .unsupported(
                    "by its metadata, the server takes no proofs of a key (DPoP) of \(names); set dpop-alg to an algorithm that it "
                        + "takes, or dpop=auto for bearer tokens")
            }
            return algorithm
        }
    }
}
