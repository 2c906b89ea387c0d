// Not built on Linux, where Foundation shows no server's certificate; this file has never been tested.
#if canImport(Security)
    internal import CryptoKit
    internal import Foundation
    internal import NevodHost
    internal import Security

    extension PinnedKeys {
        /// Whether the key of the server that asks for trust has a pin, or needs none. The system verifies the certificate in addition.
        func allow(serverOf space: URLProtectionSpace) -> Bool {
            // Pins are for servers.
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
