public import NevodHost

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

#if canImport(Security)
    internal import CryptoKit
    internal import Security
#endif

/// Sends requests with Foundation, but only to servers with pinned keys. (`CurlSession.Configuration.pins` does the same for a
/// `CurlSession`, on every system.)
///
/// Everything else is as with `URLSession: HTTPTransport`.
public final class PinnedURLSession: HTTPTransport {
    private let session: DerivedSession

    /// - Parameters:
    ///   - session: the session whose configuration is used.
    ///   - pins: the keys of servers.
    /// - Throws: `TransportError` of code `tlsConfiguration` on Linux. Foundation never shows a certificate to its delegate
    ///   there, so no pin could be compared. Use a `CurlSession` instead.
    public init(_ session: URLSession = .shared, pins: PinnedKeys) throws(TransportError) {
        #if canImport(Security)
            self.session = DerivedSession(session, pins: pins)
        #else
            throw TransportError(.tlsConfiguration, "URLSession can't pin keys on Linux; use a CurlSession with pins")
        #endif
    }

    /// True: Foundation decompresses what a server compresses.
    public var decodesContent: Bool { true }

    public func prepare(_ request: inout HTTPRequest) {
        session.prepare(&request)
    }

    public func send(_ request: HTTPRequest, _ options: TransferOptions) async throws(TransportError) -> HTTPResponse {
        try await session.send(request, options)
    }
}

/// Encodes public keys in the form from which pins are computed (RFC 5280 §4.1.2.7). Apple's Security framework returns them in
/// another form.
enum SubjectPublicKeyInfo {
    /// - Parameter key: an RSAPublicKey (RFC 8017 §A.1.1).
    static func rsa(_ key: [UInt8]) -> [UInt8]? {
        // rsaEncryption, with NULL as its parameters (RFC 3279 §2.3.1).
        info([0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00], key)
    }

    /// - Parameter point: an uncompressed point (X9.63).
    /// - Returns: nil for a curve other than P-256, P-384 and P-521 (RFC 5480 §2.1.1.1).
    static func elliptic(_ point: [UInt8]) -> [UInt8]? {
        let curve: [UInt8]
        switch point.count {
        case 65: curve = [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
        case 97: curve = [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x22]
        case 133: curve = [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x23]
        default: return nil
        }
        return info([0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01] + curve, point)
    }

    private static func info(_ algorithm: [UInt8], _ key: [UInt8]) -> [UInt8] {
        // A bit string begins with the number of unused bits.
        element(0x30, element(0x30, algorithm) + element(0x03, [0] + key))
    }

    /// A value of DER with its length (X.690 §8.1.3).
    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        if count < 0x80 { return [tag, UInt8(truncatingIfNeeded: count)] + content }
        let bytes = (0..<8).reversed().map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) }.drop { $0 == 0 }
        return [tag, 0x80 | UInt8(truncatingIfNeeded: bytes.count)] + bytes + content
    }
}

// Not built on Linux, where Foundation shows no server's certificate; this part has never been tested.
#if canImport(Security)
    extension PinnedKeys {
        /// Whether the server's key has a pin, or needs none. The system verifies the certificate as well.
        func allow(serverOf space: URLProtectionSpace) -> Bool {
            // Pins are for servers, not for proxies.
            if isEmpty || space.isProxy() { return true }
            // A key that can't be read has no digest, and so no pin.
            return allow(space.serverTrust.flatMap(Self.digest) ?? [], of: space.host.lowercased())
        }

        /// SHA-256 of the public key of the server's own certificate.
        private static func digest(of trust: SecTrust) -> [UInt8]? {
            guard let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate], let own = chain.first,
                let key = SecCertificateCopyKey(own), let bytes = SecKeyCopyExternalRepresentation(key, nil) as Data?,
                let attributes = SecKeyCopyAttributes(key) as? [CFString: Any]
            else { return nil }
            let isRSA = (attributes[kSecAttrKeyType] as? String) == kSecAttrKeyTypeRSA as String
            let info = isRSA ? SubjectPublicKeyInfo.rsa(Array(bytes)) : SubjectPublicKeyInfo.elliptic(Array(bytes))
            return info.map { Array(SHA256.hash(data: $0)) }
        }
    }
#endif
