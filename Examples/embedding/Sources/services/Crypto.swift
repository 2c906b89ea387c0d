// The part of CryptoKit that HMACToken needs, implemented with libcrypto.
#if !canImport(CryptoKit)
    import CCrypto
    import Foundation

    struct SymmetricKey {
        let data: Data
    }

    enum SHA256 {
        static func hash(data: Data) -> [UInt8] {
            var digest = [UInt8](repeating: 0, count: 32)
            let code = data.withUnsafeBytes { EVP_Digest($0.baseAddress, $0.count, &digest, nil, EVP_sha256(), nil) }
            precondition(code == 1, "libcrypto has no SHA-256")
            return digest
        }
    }

    enum HMAC<Hash> {}

    extension HMAC<SHA256> {
        static func authenticationCode(for data: Data, using key: SymmetricKey) -> [UInt8] {
            var code = [UInt8](repeating: 0, count: 32)
            let result = key.data.withUnsafeBytes { key in
                data.withUnsafeBytes { data in
                    CCrypto.HMAC(
                        EVP_sha256(), key.baseAddress, Int32(key.count), data.bindMemory(to: UInt8.self).baseAddress, data.count,
                        &code, nil)
                }
            }
            precondition(result != nil, "libcrypto has no SHA-256")
            return code
        }
    }
#endif
