import NevodPluginCrypto

// `#expect` splits its expression, and can't hold a span from it.

extension HashFunction {
    func digest(ofBytes message: [UInt8]) throws(SchemeError) -> Digest { try digest(of: message.span) }
    func hmac(key: [UInt8], ofBytes message: [UInt8]) throws(SchemeError) -> Digest {
        try hmac(key: key.span, of: message.span)
    }
}

extension HMACKey {
    func code(ofBytes message: [UInt8]) throws(SchemeError) -> Digest { try code(of: message.span) }
    func isCode(_ code: [UInt8], ofBytes message: [UInt8]) throws(SchemeError) -> Bool {
        try isCode(code.span, of: message.span)
    }
}

extension PublicKey {
    func isSignature(_ signature: [UInt8], ofBytes message: [UInt8], _ algorithm: SignatureAlgorithm) -> Bool {
        isSignature(signature.span, of: message.span, algorithm)
    }
}

extension PrivateKey {
    func signature(ofBytes message: [UInt8], _ algorithm: SignatureAlgorithm) throws(SchemeError) -> [UInt8] {
        try signature(of: message.span, algorithm)
    }
}

extension ConstantTime {
    static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool { areEqual(left.span, right.span) }
}
