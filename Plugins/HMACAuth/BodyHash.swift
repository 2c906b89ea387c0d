internal import NevodPluginCrypto
internal import NevodPluginKit

/// The value of `{body-hash}` without a body.
enum EmptyBodyHash: String, CaseIterable, SettingValue {
    case nothing
    /// The hash of zero bytes.
    case hash
}

/// The text of `{body-hash}`.
struct BodyHash: Sendable {
    let algorithm: HashAlgorithm
    let encoding: ByteEncoding
    private let ofNothing: [UInt8]

    init(_ settings: HMACAuth) throws(SchemeError) {
        algorithm = settings.bodyHash ?? settings.algorithm
        encoding = settings.bodyHashEncoding
        ofNothing = settings.emptyBodyHash == .hash ? try Self.hashOfNothing(algorithm) : []
    }

    @_lifetime(text: copy text)
    func append(of request: borrowing RequestView, to text: inout ByteWriter) throws(SchemeError) {
        if let digest = request.bodyDigest(algorithm.digest) {
            text.append(digest, encoding)
        } else if request.hasBody {
            throw .unsupported("a body that can be read only once can't be signed; send it from a file or from memory")
        } else {
            text.append(ofNothing.span, encoding)
        }
    }

    private static func hashOfNothing(_ algorithm: HashAlgorithm) throws(SchemeError) -> [UInt8] {
        let nothing: [UInt8] = []
        let digest = try algorithm.function.digest(of: nothing.span)
        return digest.bytes.indices.map { digest.bytes[$0] }
    }
}
