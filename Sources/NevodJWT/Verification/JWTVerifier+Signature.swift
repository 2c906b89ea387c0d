extension JWTVerifier {
    /// Verifies a signature of any payload (RFC 7515 §5.2), and checks nothing else.
    ///
    /// - Returns: the payload.
    package func verifiedPayload(_ text: String, with keys: [JSONWebKey]) throws(JWTError) -> [UInt8] {
        try text.withToken { text throws(JWTError) in
            let parsed = try CompactJWS(text)
            try verifySignature(parsed, of: text, with: keys)
            return parsed.payload
        }
    }

    func verifySignature(
        _ parsed: borrowing CompactJWS, of text: UnsafeRawBufferPointer, with keys: [JSONWebKey]
    ) throws(JWTError) {
        let algorithm = try acceptedAlgorithm(parsed.header)
        let message = UnsafeRawBufferPointer(rebasing: text[..<parsed.signedCount])
        let signature = UnsafeRawBufferPointer(parsed.signature)
        var tried = 0
        for key in keys where tried < Self.keyLimit && key.fits(parsed.header) {
            tried += 1
            if key.key.isSignature(signature, of: message, algorithm) { return }
        }
        guard tried > 0 else {
            throw JWTError(.noKey, "none of \(keys.count) keys is for \(algorithm.rawValue) and the token's key identifier (kid)")
        }
        throw JWTError(.signature, "the signature is not valid")
    }

    /// The token's algorithm, if it is one of the verifier's.
    func acceptedAlgorithm(_ header: JWTHeader) throws(JWTError) -> JWTAlgorithm {
        guard let algorithm = header.knownAlgorithm else {
            throw JWTError(.algorithm, "the token has no signature, or one of an unknown algorithm (alg)")
        }
        guard algorithms.contains(algorithm) else {
            throw JWTError(.algorithm, "the token is signed with \(algorithm.rawValue), which is not accepted")
        }
        return algorithm
    }

    func checkType(_ header: JWTHeader) throws(JWTError) {
        guard let type else { return }
        guard let other = header.type, MediaType.matches(type, other) else {
            throw JWTError(.type, "the token's type (typ) is not \(type)")
        }
    }
}
