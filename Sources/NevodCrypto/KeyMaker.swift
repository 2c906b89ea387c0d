internal import COpenSSL
package import NevodSupport

/// Makes libcrypto's keys from numbers. Each function returns an EVP_PKEY that the caller owns.
package enum KeyMaker {
    /// The names of parameters. libcrypto keeps the pointers while it collects parameters: a Swift string passed as an argument
    /// would be freed too early.
    private enum Name {
        static let modulus: StaticString = "n"
        static let exponent: StaticString = "e"
        static let group: StaticString = "group"
        static let point: StaticString = "pub"
        static let secret: StaticString = "priv"
        static let privateExponent: StaticString = "d"
        static let factor1: StaticString = "rsa-factor1"
        static let factor2: StaticString = "rsa-factor2"
        static let exponent1: StaticString = "rsa-exponent1"
        static let exponent2: StaticString = "rsa-exponent2"
        static let coefficient: StaticString = "rsa-coefficient1"
    }

    package static func rsa(modulus: [UInt8], exponent: [UInt8]) throws(CryptoError) -> OpaquePointer {
        // libcrypto's limit is 16384 bits. A leading zero is common, though RFC 7518 §6.3.1.1 forbids it.
        guard modulus.count <= 2049 else { throw CryptoError("the RSA key's modulus (n) has more than 16384 bits") }
        let key = make("RSA") { parameters in
            guard let n = BN_bin2bn(modulus, Int32(clamping: modulus.count), nil) else { return nil }
            defer { BN_free(n) }
            guard let e = BN_bin2bn(exponent, Int32(clamping: exponent.count), nil) else { return nil }
            defer { BN_free(e) }
            guard OSSL_PARAM_BLD_push_BN(parameters, Name.modulus.characters, n) == 1,
                OSSL_PARAM_BLD_push_BN(parameters, Name.exponent.characters, e) == 1
            else { return nil }
            return OSSL_PARAM_BLD_to_param(parameters)
        }
        guard let key else { throw CryptoError("the RSA key is invalid") }
        return key
    }

    /// libcrypto refuses a point that is not on the curve.
    package static func elliptic(_ curve: EllipticCurve, x: [UInt8], y: [UInt8]) throws(CryptoError) -> OpaquePointer {
        guard x.count == curve.coordinateSize, y.count == curve.coordinateSize else {
            throw CryptoError("the key's coordinates (x, y) don't have the size of its curve (RFC 7518 §6.2.1.2)")
        }
        let point = [0x04] + x + y
        let key = point.withUnsafeBytes { point in
            make("EC") { parameters in
                guard OSSL_PARAM_BLD_push_utf8_string(parameters, Name.group.characters, curve.group.characters, 0) == 1,
                    OSSL_PARAM_BLD_push_octet_string(parameters, Name.point.characters, point.baseAddress, point.count) == 1
                else { return nil }
                return OSSL_PARAM_BLD_to_param(parameters)
            }
        }
        guard let key else { throw CryptoError("the key's point (x, y) is not on its curve") }
        return key
    }

    package static func edwards(_ curve: EdwardsCurve, x: [UInt8]) throws(CryptoError) -> OpaquePointer {
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        guard x.count == curve.size, let key = EVP_PKEY_new_raw_public_key_ex(nil, curve.name.characters, nil, x, x.count) else {
            throw CryptoError("the key's point (x) doesn't have the size of its curve (RFC 8037 §2)")
        }
        return key
    }

    /// The members of an RSA key's private part (RFC 7518 §6.3.2), as numbers with the most significant byte first.
    package struct RSAParts {
        let modulus, exponent: [UInt8]
        let secret, p, q, dp, dq, qi: Secret

        package init(
            modulus: [UInt8], exponent: [UInt8], secret: Secret, p: Secret, q: Secret, dp: Secret, dq: Secret, qi: Secret
        ) {
            (self.modulus, self.exponent) = (modulus, exponent)
            (self.secret, self.p, self.q, self.dp, self.dq, self.qi) = (secret, p, q, dp, dq, qi)
        }
    }

    /// libcrypto checks that the parts fit together.
    package static func rsaPrivate(_ parts: RSAParts) throws(CryptoError) -> OpaquePointer {
        guard parts.modulus.count <= 2049 else { throw CryptoError("the RSA key's modulus (n) has more than 16384 bits") }
        let key = make("RSA", nevod_evp_pkey_keypair()) { parameters in
            var numbers: [OpaquePointer] = []
            defer { for number in numbers { BN_clear_free(number) } }
            func push(_ name: StaticString, _ number: OpaquePointer?) -> Bool {
                guard let number else { return false }
                numbers.append(number)
                return OSSL_PARAM_BLD_push_BN(parameters, name.characters, number) == 1
            }
            func number(_ bytes: [UInt8]) -> OpaquePointer? { BN_bin2bn(bytes, Int32(clamping: bytes.count), nil) }
            func number(_ secret: Secret) -> OpaquePointer? { secretNumber(secret) }
            guard push(Name.modulus, number(parts.modulus)), push(Name.exponent, number(parts.exponent)),
                push(Name.privateExponent, number(parts.secret)), push(Name.factor1, number(parts.p)),
                push(Name.factor2, number(parts.q)), push(Name.exponent1, number(parts.dp)),
                push(Name.exponent2, number(parts.dq)), push(Name.coefficient, number(parts.qi))
            else { return nil }
            return OSSL_PARAM_BLD_to_param(parameters)
        }
        guard let key else { throw CryptoError("the RSA key is invalid") }
        guard isConsistent(key) else {
            EVP_PKEY_free(key)
            throw CryptoError("the RSA key is invalid: its parts don't fit together")
        }
        return key
    }

    /// Makes a key from its private number (`d` in a JWK), and computes its point.
    package static func ellipticPrivate(_ curve: EllipticCurve, secret: Secret) throws(CryptoError) -> OpaquePointer {
        guard secret.count == curve.coordinateSize else {
            throw CryptoError("the private key doesn't have the size of its curve (RFC 7518 §6.2.2.1)")
        }
        guard let number = secretNumber(secret) else {
            throw CryptoError("no memory for a key")
        }
        defer { BN_clear_free(number) }
        guard let point = point(curve, number) else { throw CryptoError("the private key is not in the range of its curve") }
        let key = point.withUnsafeBytes { point in
            make("EC", nevod_evp_pkey_keypair()) { parameters in
                guard OSSL_PARAM_BLD_push_utf8_string(parameters, Name.group.characters, curve.group.characters, 0) == 1,
                    OSSL_PARAM_BLD_push_octet_string(parameters, Name.point.characters, point.baseAddress, point.count) == 1,
                    OSSL_PARAM_BLD_push_BN(parameters, Name.secret.characters, number) == 1
                else { return nil }
                return OSSL_PARAM_BLD_to_param(parameters)
            }
        }
        guard let key else { throw CryptoError("the private key is invalid") }
        return key
    }

    package static func edwardsPrivate(_ curve: EdwardsCurve, secret: Secret) throws(CryptoError) -> OpaquePointer {
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        let key = secret.withUnsafeBytes { secret in
            secret.count == curve.size
                ? EVP_PKEY_new_raw_private_key_ex(nil, curve.name.characters, nil, secret.bytes, secret.count) : nil
        }
        guard let key else { throw CryptoError("the private key doesn't have the size of its curve (RFC 8037 §2)") }
        return key
    }

    /// A number that libcrypto treats as secret: it wipes even the parameters that it copies the number to.
    private static func secretNumber(_ secret: Secret) -> OpaquePointer? {
        guard let number = BN_secure_new() else { return nil }
        guard secret.withUnsafeBytes({ BN_bin2bn($0.bytes, Int32(clamping: $0.count), number) }) != nil else {
            BN_clear_free(number)
            return nil
        }
        return number
    }

    /// The uncompressed point of a private number; nil for a number outside 1 …< the group's order.
    private static func point(_ curve: EllipticCurve, _ number: OpaquePointer) -> [UInt8]? {
        guard let group = EC_GROUP_new_by_curve_name(OBJ_sn2nid(curve.group.characters)) else { return nil }
        defer { EC_GROUP_free(group) }
        guard BN_is_zero(number) == 0, BN_cmp(number, EC_GROUP_get0_order(group)) < 0, let point = EC_POINT_new(group) else {
            return nil
        }
        defer { EC_POINT_free(point) }
        var bytes = [UInt8](repeating: 0, count: 1 + 2 * curve.coordinateSize)
        guard EC_POINT_mul(group, point, number, nil, nil, nil) == 1,
            EC_POINT_point2oct(group, point, POINT_CONVERSION_UNCOMPRESSED, &bytes, bytes.count, nil) == bytes.count
        else { return nil }
        return bytes
    }

    private static func isConsistent(_ key: OpaquePointer) -> Bool {
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        guard let context = EVP_PKEY_CTX_new(key, nil) else { return false }
        defer { EVP_PKEY_CTX_free(context) }
        return EVP_PKEY_pairwise_check(context) == 1
    }

    /// - Parameter describe: returns an array that libcrypto has allocated. Called while its inputs still exist.
    private static func make(
        _ type: StaticString, _ selection: Int32 = nevod_evp_pkey_public_key(),
        _ describe: (_ parameters: OpaquePointer) -> UnsafeMutablePointer<OSSL_PARAM>?
    ) -> OpaquePointer? {
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        guard let builder = OSSL_PARAM_BLD_new() else { return nil }
        defer { OSSL_PARAM_BLD_free(builder) }
        guard let parameters = describe(builder) else { return nil }
        defer { OSSL_PARAM_free(parameters) }
        guard let context = EVP_PKEY_CTX_new_from_name(nil, type.characters, nil) else { return nil }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_fromdata_init(context) == 1, EVP_PKEY_fromdata(context, &key, selection, parameters) == 1
        else {
            EVP_PKEY_free(key)
            return nil
        }
        return key
    }
}
