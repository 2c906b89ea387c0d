import Foundation

/// An issuer's tokens with two keys, made with PyJWT. The private keys no longer exist. Issued at 1,800,000,000 to `ada` for
/// `shop`, for an hour.
enum SignedTokens {
    static let issuer = "https://login.example.com"
    static let time: Int64 = 1_800_000_000
    static var keySet: String { #"{"keys":[\#(oneKey)]}"# }
    static var bothKeys: String { #"{"keys":[\#(oneKey),\#(twoKey)]}"# }

    static let oneKey =
        #"{"alg":"ES256","crv":"P-256","kid":"one","kty":"EC","use":"sig","#
        + #""x":"2a4nznFA4cLLrbZV1QFBBFcGsdozGGVKyTcl4pjqZaU","y":"kKtcs6Vy9lhv2TaPy_-mMekdovNKWI7clkVhcoVHK-k"}"#
    static let twoKey =
        #"{"alg":"ES256","crv":"P-256","kid":"two","kty":"EC","use":"sig","#
        + #""x":"DirBoCng8c7ZZY9tWrh1XeKRNr9gPA8cUvCWPBKS_8Y","y":"j_nnoAab7xfk4SoOFjzZbFj1fHfpYtNz9pvJllMjOlA"}"#
    static let one =
        "eyJhbGciOiJFUzI1NiIsImtpZCI6Im9uZSIsInR5cCI6IkpXVCJ9."
        + "eyJpc3MiOiJodHRwczovL2xvZ2luLmV4YW1wbGUuY29tIiwic3ViIjoiYWRhIiwiYXVkIjoic2hvcCIsImlhdCI6MTgwMDAwMDAwMCwiZXhwIj"
        + "oxODAwMDAzNjAwfQ."
        + "_KnGCBIyxAzDPHOKVkj1-V-hrpDElkS5Wxq-HWtFXkut6P31u7asyEUNdpnFI_nP4AFD20AOaprWJv5NPjfwEA"
    static let two =
        "eyJhbGciOiJFUzI1NiIsImtpZCI6InR3byIsInR5cCI6IkpXVCJ9."
        + "eyJpc3MiOiJodHRwczovL2xvZ2luLmV4YW1wbGUuY29tIiwic3ViIjoiYWRhIiwiYXVkIjoic2hvcCIsImlhdCI6MTgwMDAwMDAwMCwiZXhwIj"
        + "oxODAwMDAzNjAwfQ."
        + "3vUoM_9ojGjFZRcADxr2QduRDAutiu-GF3MWmtuRWhLk5nCErudGtSnhdvu0qObNiCvG074llilMNTfZ-Wn6hw"
    static let forBob =
        "eyJhbGciOiJFUzI1NiIsImtpZCI6Im9uZSIsInR5cCI6IkpXVCJ9."
        + "eyJpc3MiOiJodHRwczovL2xvZ2luLmV4YW1wbGUuY29tIiwic3ViIjoiYm9iIiwiYXVkIjoic2hvcCIsImlhdCI6MTgwMDAwMDYwMCwiZXhwIj"
        + "oxODAwMDAzNjAwfQ."
        + "VONxEh8DK09_Qh84gCGAbsJ8nkbCZ7jx4Gl-tflBsP0NY9CxW5XtIbyiGkiIv-LvvgQzdnp8S2tQoevn9QeN8A"
    static let lastingOne =
        "eyJhbGciOiJFUzI1NiIsImtpZCI6Im9uZSIsInR5cCI6IkpXVCJ9."
        + "eyJpc3MiOiJodHRwczovL2xvZ2luLmV4YW1wbGUuY29tIiwic3ViIjoiYWRhIiwiYXVkIjoic2hvcCIsImlhdCI6MTgwMDAwMDAwMCwiZXhwIj"
        + "oxODAzNDU2MDAwfQ."
        + "LrdHSXjh4tkVg2RgKh7jBgnOlr9LldVHszy8AASCILvSDiRTcOEWe4pMTFkcgHomVIdzHDfcWQCv0unWP-rFwA"
    static let foreign =
        "eyJhbGciOiJFUzI1NiIsImtpZCI6Im9uZSIsInR5cCI6IkpXVCJ9."
        + "eyJpc3MiOiJodHRwczovL2xvZ2luLmV4YW1wbGUuY29tIiwic3ViIjoiYWRhIiwiYXVkIjoiYmFuayIsImlhdCI6MTgwMDAwMDAwMCwiZXhwIj"
        + "oxODAwMDAzNjAwfQ."
        + "LtP5e6A3U8mRWRPi9GpBTV-EvmRxRzBzybDnu8v4J5De70ogt4YK-KSB7JzzuxaZhDCWWW2w8z_H3FKWBhbjBw"

    /// An unsigned token with its own key identifier.
    static func unsigned(keyID: String, claims: String = #"{"exp":1900000000}"#) -> String {
        let header = #"{"alg":"ES256","kid":"\#(keyID)"}"#
        return [header, claims].map { base64URL($0) + "." }.joined() + String(repeating: "A", count: 86)
    }

    private static func base64URL(_ text: String) -> String {
        Data(text.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
