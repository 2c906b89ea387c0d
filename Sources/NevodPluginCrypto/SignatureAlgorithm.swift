/// An algorithm of signatures with a key pair.
public enum SignatureAlgorithm: Sendable, Equatable {
    /// RSASSA-PKCS1-v1_5 (RFC 8017 §8.2): `RS256` and its kind in JOSE, `rsa-v1_5-sha256` in HTTP signatures.
    case rsaPKCS1(HashFunction)
    /// RSASSA-PSS (RFC 8017 §8.1), with MGF1 and the same hash, and a salt as long as the hash: `PS256`, `rsa-pss-sha512`.
    case rsaPSS(HashFunction)
    /// ECDSA on the key's curve. The signature is r and s, each in the length of the curve (RFC 7518 §3.4): `ES256`.
    case ecdsa(HashFunction)
    /// ECDSA on the key's curve. The signature is a DER sequence of r and s (RFC 3279 §2.2.3), as OpenSSL and X.509 have it.
    case ecdsaDER(HashFunction)
    /// Ed25519 (RFC 8032), or Ed448 if the key is on that curve: `EdDSA`.
    case edDSA
}
