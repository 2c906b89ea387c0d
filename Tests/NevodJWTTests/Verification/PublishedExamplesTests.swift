import NevodJWT
import Testing

/// The examples of the standards.
struct PublishedExamplesTests {
    /// An example: its name, its key as JSON, and the parts of its token.
    struct Example: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let algorithm: JWTAlgorithm
        let key: String
        let token: String
        let payload: String

        init(_ name: String, _ algorithm: JWTAlgorithm, _ key: String, _ parts: [String], _ payload: String) {
            testDescription = name
            self.algorithm = algorithm
            self.key = key
            token = parts.joined(separator: ".")
            self.payload = payload
        }
    }

    private static let claims = "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
    private static let claimsText = "{\"iss\":\"joe\",\r\n \"exp\":1300819380,\r\n \"http://example.com/is_root\":true}"
    private static let quote =
        "SXTigJlzIGEgZGFuZ2Vyb3VzIGJ1c2luZXNzLCBGcm9kbywgZ29pbmcgb3V0IHlvdXIgZG9vci4gWW91IHN0ZXAgb250byB0aGUgcm9hZCwgYW5kIGlmIHlvdSBk"
        + "b24ndCBrZWVwIHlvdXIgZmVldCwgdGhlcmXigJlzIG5vIGtub3dpbmcgd2hlcmUgeW91IG1pZ2h0IGJlIHN3ZXB0IG9mZiB0by4"
    private static let quoteText =
        "It’s a dangerous business, Frodo, going out your door. You step onto the road, and if you don't keep your feet, "
        + "there’s no knowing where you might be swept off to."
    private static let cookbookRSA =
        #"{"kty":"RSA","kid":"bilbo.baggins@hobbiton.example","use":"sig","e":"AQAB","n":""#
        + "n4EPtAOCc9AlkeQHPzHStgAbgs7bTZLwUBZdR8_KuKPEHLd4rHVTeT-O-XV2jRojdNhxJWTDvNd7nqQ0VEiZQHz_AJmSCpMaJMRBSFKrKb2wqVwGU_NsYOYL-QtiWN2l"
        + "bzcEe6XC0dApr5ydQLrHqkHHig3RBordaZ6Aj-oBHqFEHYpPe7Tpe-OfVfHd1E6cS6M1FZcD1NNLYD5lFHpPI9bTwJlsde3uhGqC0ZCuEHg8lhzwOHrtIQbS0FVbb9k3"
        + #"-tVTU4fg_3L_vniUFAKwuCLqKnS2BYwdq_mzSnbLY7h_qixoR7jig3__kRhuaxwUkRz5iaiQkqgc5gHdrNP5zw"}"#

    static let examples = [
        Example(
            "RFC 7515 A.1", .hs256,
            #"{"kty":"oct","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"}"#,
            ["eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9", claims, "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"], claimsText),
        Example(
            "RFC 7515 A.2", .rs256,
            #"{"kty":"RSA","e":"AQAB","n":""#
                + "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOW"
                + "vG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9k"
                + #"G4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"}"#,
            [
                "eyJhbGciOiJSUzI1NiJ9", claims,
                "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4"
                    + "BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqv"
                    + "hJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw",
            ], claimsText),
        Example(
            "RFC 7515 A.3", .es256,
            #"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#,
            [
                "eyJhbGciOiJFUzI1NiJ9", claims,
                "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q",
            ], claimsText),
        Example(
            "RFC 7515 A.4", .es512,
            #"{"kty":"EC","crv":"P-521","x":"AekpBQ8ST8a8VcfVOTNl353vSrDCLLJXmPk06wTjxrrjcBpXp5EOnYG_NjFZ6OvLFV1jSfS9tsz4qUxcWceqwQGk","#
                + #""y":"ADSmRA43Z1DSNx_RvcLI87cdL07l6jQyyBXMoxVg_l2Th-x3S1WDhjDly79ajL4Kkd0AZMaZmh9ubmf63e3kyMj2"}"#,
            [
                "eyJhbGciOiJFUzUxMiJ9", "UGF5bG9hZA",
                "AdwMgeerwtHoh-l192l60hp9wAHZFVJbLfD_UxMi70cwnZOYaRI1bKPWROc-mZZqwqT2SI-KGDKB34XO0aw_7XdtAG8GaSwFKdCAPZgoXD2YBJZCPEX3xKpRwcdOO8Kp"
                    + "EHwJjyqOgzDO7iKvU8vcnwNrmxYbSW9ERBXukOXolLzeO_Jn",
            ], "Payload"),
        Example(
            "RFC 7520 4.1", .rs256, cookbookRSA,
            [
                "eyJhbGciOiJSUzI1NiIsImtpZCI6ImJpbGJvLmJhZ2dpbnNAaG9iYml0b24uZXhhbXBsZSJ9", quote,
                "MRjdkly7_-oTPTS3AXP41iQIGKa80A0ZmTuV5MEaHoxnW2e5CZ5NlKtainoFmKZopdHM1O2U4mwzJdQx996ivp83xuglII7PNDi84wnB-BDkoBwA78185hX-Es4JIwmD"
                    + "LJK3lfWRa-XtL0RnltuYv746iYTh_qHRD68BNt1uSNCrUCTJDt5aAE6x8wW1Kt9eRo4QPocSadnHXFxnt8Is9UzpERV0ePPQdLuW3IS_de3xyIrDaLGdjluPxUAhb6L2"
                    + "aXic1U12podGU0KLUQSE_oI-ZnmKJ3F4uOZDnd6QZWJushZ41Axf_fcIe8u9ipH84ogoree7vjbU5y18kDquDg",
            ], quoteText),
        Example(
            "RFC 7520 4.2", .ps384, cookbookRSA,
            [
                "eyJhbGciOiJQUzM4NCIsImtpZCI6ImJpbGJvLmJhZ2dpbnNAaG9iYml0b24uZXhhbXBsZSJ9", quote,
                "cu22eBqkYDKgIlTpzDXGvaFfz6WGoz7fUDcfT0kkOy42miAh2qyBzk1xEsnk2IpN6-tPid6VrklHkqsGqDqHCdP6O8TTB5dDDItllVo6_1OLPpcbUrhiUSMxbbXUvdvW"
                    + "Xzg-UD8biiReQFlfz28zGWVsdiNAUf8ZnyPEgVFn442ZdNqiVJRmBqrYRXe8P_ijQ7p8Vdz0TTrxUeT3lm8d9shnr2lfJT8ImUjvAA2Xez2Mlp8cBE5awDzT0qI0n6ui"
                    + "P1aCN_2_jLAeQTlqRHtfa64QQSUmFAAjVKPbByi7xho0uTOcbH510a6GYmJUAfmWjwZ6oD4ifKo8DYM-X72Eaw",
            ], quoteText),
        Example(
            "RFC 7520 4.3", .es512,
            #"{"kty":"EC","kid":"bilbo.baggins@hobbiton.example","use":"sig","crv":"P-521","#
                + #""x":"AHKZLLOsCOzz5cY97ewNUajB957y-C-U88c3v13nmGZx6sYl_oJXu9A5RkTKqjqvjyekWF-7ytDyRXYgCF5cj0Kt","#
                + #""y":"AdymlHvOiLxXkEhayXQnNCvDX4h9htZaCJN34kfmC6pV5OhQHiraVySsUdaQkAgDPrwQrJmbnX9cwlGfP-HqHZR1"}"#,
            [
                "eyJhbGciOiJFUzUxMiIsImtpZCI6ImJpbGJvLmJhZ2dpbnNAaG9iYml0b24uZXhhbXBsZSJ9", quote,
                "AE_R_YZCChjn4791jSQCrdPZCNYqHXCTZH0-JZGYNlaAjP2kqaluUIIUnC9qvbu9Plon7KRTzoNEuT4Va2cmL1eJAQy3mtPBu_u_sDDyYjnAMDxXPn7XrT0lw-kvAD89"
                    + "0jl8e2puQens_IEKBpHABlsbEPX6sFY8OcGDqoRuBomu9xQ2",
            ], quoteText),
        Example(
            "RFC 7520 4.4", .hs256,
            #"{"kty":"oct","kid":"018c0ae5-4d9b-471b-bfd6-eef314bc7037","use":"sig","alg":"HS256","#
                + #""k":"hJtXIZ2uSN5kbQfbtTNWbpdmhkV8FJG-Onbc6mxCcYg"}"#,
            [
                "eyJhbGciOiJIUzI1NiIsImtpZCI6IjAxOGMwYWU1LTRkOWItNDcxYi1iZmQ2LWVlZjMxNGJjNzAzNyJ9", quote,
                "s0h6KThzkfBBBkLspW1h84VsJZFTsPPqMDA7g1Md7p0",
            ], quoteText),
        Example(
            "RFC 8037 A.4", .edDSA, #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#,
            [
                "eyJhbGciOiJFZERTQSJ9", "RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc",
                "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg",
            ], "Example of Ed25519 signing"),
    ]

    @Test(arguments: examples) func `A published signature is valid, and no other one`(_ example: Example) throws {
        let key = try JSONWebKey(json: Array(example.key.utf8))
        let verifier = JWTVerifier(algorithms: [example.algorithm])
        #expect(try verifier.verifiedPayload(example.token, with: [key]) == Array(example.payload.utf8))
        // All bits of the signature's first digit are used.
        let signature = try #require(example.token.lastIndex(of: "."))
        let first = example.token.index(after: signature)
        let other = example.token[...signature] + (example.token[first] == "A" ? "B" : "A") + example.token[first...].dropFirst()
        #expect(throws: JWTError(.signature, "the signature is not valid")) {
            try verifier.verifiedPayload(String(other), with: [key])
        }
        for algorithm in JWTAlgorithm.allCases where algorithm != example.algorithm {
            #expect { try JWTVerifier(algorithms: [algorithm]).verifiedPayload(example.token, with: [key]) } throws: {
                ($0 as? JWTError)?.code == .algorithm
            }
        }
    }

    /// RFC 7519 §3.1 shows the token of RFC 7515 A.1.
    @Test(arguments: examples.filter { $0.payload == claimsText })
    func `The example of a token has expired since`(_ example: Example) throws {
        let key = try JSONWebKey(json: Array(example.key.utf8))
        var verifier = JWTVerifier(algorithms: [example.algorithm], issuer: "joe", leeway: .zero)
        let claims = try verifier.verify(example.token, with: [key], at: 1_300_819_379)
        #expect(claims.issuer == "joe" && claims.expiresAt == 1_300_819_380)
        #expect(claims[boolean: "http://example.com/is_root"] == true)
        #expect(claims.names == ["iss", "exp", "http://example.com/is_root"])
        #expect(code { try verifier.verify(example.token, with: [key], at: 1_300_819_380) } == .expired)
        verifier.leeway = .seconds(30)
        _ = try verifier.verify(example.token, with: [key], at: 1_300_819_409)
        #expect(code { try verifier.verify(example.token, with: [key], at: 1_300_819_410) } == .expired)
    }

    /// RFC 7515 A.5 and RFC 7519 §6.1.
    @Test func `The unsecured example is refused`() throws {
        let keys = try Self.examples.map { try JSONWebKey(json: Array($0.key.utf8)) }
        let token = "eyJhbGciOiJub25lIn0.\(Self.claims)."
        let verifier = JWTVerifier(algorithms: Set(JWTAlgorithm.allCases))
        #expect(code { try verifier.verify(token, with: keys, at: 0) } == .algorithm)
        #expect(try JSONWebToken(token).header.algorithm == "none")
    }
}
