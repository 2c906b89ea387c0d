import Foundation
import NevodPluginKit
import NevodSupport
import NevodTestSupport
import Testing

@testable import CookieAuth

struct TOTPTests {
    private func code(_ setting: String, at seconds: Int64) throws -> String {
        String(decoding: try TOTP(Secret(setting)).code(at: seconds).withUnsafeBytes { Array($0) }, as: UTF8.self)
    }

    private func decoded(_ text: String) -> String? {
        Array(text.utf8).withUnsafeBytes { Base32.secret($0) }.map { $0.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
    }

    @Test(arguments: [
        (59, "94287082", "46119246", "90693936"), (1_111_111_109, "07081804", "68084774", "25091201"),
        (1_111_111_111, "14050471", "67062674", "99943326"), (1_234_567_890, "89005924", "91819424", "93441116"),
        (2_000_000_000, "69279037", "90698825", "38618901"), (20_000_000_000, "65353130", "77737706", "47863826"),
    ])
    func `Codes are those of RFC 6238 Appendix B`(_ time: Int64, _ sha1: String, _ sha256: String, _ sha512: String) throws {
        // The digits 1 to 0, repeated: 20, 32 and 64 bytes.
        let twenty = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
        let uri = "otpauth://totp/RFC:a@b?digits=8&secret="
        #expect(try code(uri + twenty, at: time) == sha1)
        #expect(try code(uri + twenty + "GEZDGNBVGY3TQOJQGEZA&algorithm=SHA256", at: time) == sha256)
        let sixtyFour = twenty + twenty + twenty + "GEZDGNA%3d"
        #expect(try code(uri + sixtyFour + "&algorithm=sha512&period=30&issuer=RFC", at: time) == sha512)
        #expect(try code(twenty, at: time) == sha1.suffix(6))
    }

    @Test(arguments: [
        ("", ""), ("MY======", "f"), ("MZXQ====", "fo"), ("MZXW6===", "foo"), ("MZXW6YQ=", "foob"), ("MZXW6YTB", "fooba"),
        ("MZXW6YTBOI======", "foobar"),
    ])
    func `Base32 is that of RFC 4648 §10`(_ text: String, _ bytes: String) {
        #expect(decoded(text) == bytes)
        #expect(decoded(text.lowercased().replacing("=", with: "")) == bytes)
        #expect(decoded(text.map { "\($0) -" }.joined()) == bytes)
    }

    @Test(arguments: ["M", "MZX", "MZXW6Y", "MZXW61TB", "MZXW60TB", "MZXW68TB", "MZ=XW6YTB", "MZXW6YTÉ", "MZXW6YTB\0", "%4D%59"])
    func `Text that isn't base32 is refused`(_ text: String) {
        #expect(decoded(text) == nil)
    }

    @Test func `Keys are read as applications show them`() throws {
        let code = try code("JBSWY3DPEHPK3PXP", at: 0)
        for text in [
            "jbsw y3dp ehpk 3pxp", "JBSW-Y3DP-EHPK-3PXP\n", "  JBSWY3DPEHPK3PXP======",
            "otpauth://totp/a?secret=JBSWY3DPEHPK3PXP",
            "OTPAUTH://TOTP/a%3Ab?issuer=c&SECRET=jbsw%20y3dp+ehpk3pxp&secret=AAAA#x",
            "otpauth://totp/?digits=6&secret=JBSWY3DPEHPK3PXP",
        ] {
            #expect(try self.code(text, at: 29) == code, Comment(rawValue: text))
        }
        #expect(try TOTP(Secret("otpauth://totp/a?secret=MY&period=60")).period == 60)
        #expect(try TOTP(Secret("MY")).period == 30)
    }

    @Test(arguments: [
        ("", "must not be empty"), (" \n", "must not be empty"), ("123456", "must be a key in base32"),
        ("MZXW6YT1", "must be a key in base32"),
        ("otpauth://hotp/a?secret=MY&counter=1", "must be an otpauth://totp/ URI"),
        ("otpauth-migration://offline?data=x", "must be an otpauth://totp/ URI"), ("otpauth://totp/a", "must have a secret"),
        ("otpauth://totp/a?secret=", "must not be empty"), ("otpauth://totp/a?secret=%", "must be a key in base32"),
        ("otpauth://totp/a?secret=MY&digits=9", "must have 6 to 8 as its digits"),
        ("otpauth://totp/a?secret=MY&digits=", "must have 6 to 8 as its digits"),
        ("otpauth://totp/a?secret=MY&period=0", "must have 1 to 300 as its period"),
        ("otpauth://totp/a?secret=MY&period=99999999999999999999", "must have 1 to 300 as its period"),
        ("otpauth://totp/a?secret=MY&algorithm=MD5", "must have SHA1, SHA256 or SHA512 as its algorithm"),
    ])
    func `A key that can't be used is an error that doesn't show it`(_ setting: String, _ message: String) {
        let error = #expect(throws: SchemeError.self) { try TOTP(Secret(setting)) }
        #expect(error?.message.hasPrefix(message) == true)
        #expect(error?.message.contains("MZXW6YT1") == false)
    }

    @Test func `Any time has a code, and oathtool has the same`() throws {
        for time: Int64 in [.min, -1, .max] { #expect(try code("MY", at: time).utf8.count == 6) }
        for _ in 0..<20 {
            let key = String((0..<32).map { _ in "abcdefghijklmnopqrstuvwxyz234567".randomElement() ?? "a" })
            let time = Int64.random(in: 0..<4_000_000_000)
            let digits = Int.random(in: 6...8)
            let hash = ["SHA1", "SHA256", "SHA512"].randomElement() ?? "SHA1"
            let verdict = try Command.output([
                "oathtool", "--totp=\(hash)", "--base32", "--digits=\(digits)", "--time-step-size=45s", "--now=@\(time)", key,
            ])
            let uri = "otpauth://totp/a?secret=\(key)&digits=\(digits)&period=45&algorithm=\(hash)"
            #expect(try code(uri, at: time) + "\n" == verdict)
        }
    }
}
