internal import NevodSupport

/// The code that a user enters on another device to log this one in (RFC 8628 §3.2).
public struct OAuthDeviceCode: Sendable, Redacted {
    /// The code that the user enters: printable ASCII.
    public let userCode: String
    /// The page on which the user enters it: https, unless its server is on this machine.
    public let verificationURI: String
    /// The same page with the code in its address, as for a QR code; nil if the server has none.
    public let verificationURIComplete: String?
    /// How long the code is valid, from the server's response on.
    public let lifetime: Duration
    /// How often the server may be asked whether the user has entered the code.
    let interval: Duration
    /// Exchanged for the token; secret.
    let code: String

    init(_ response: OAuthResponse) throws(OAuthError) {
        let json = try response.result()
        func text(_ name: String, _ limit: Int) throws(OAuthError) -> String {
            guard let text = json[name]?.string, !text.isEmpty, text.utf8.count <= limit,
                text.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
            else { throw response.unusable("has no valid \(name); try again later") }
            return text
        }
        let code = try text("device_code", 8192)
        func page(_ url: String) throws(OAuthError) -> String {
            // A person will log in there.
            do throws(OAuthError) { _ = try OAuthServer.checked(url, as: "page for the code") } catch {
                throw response.unusable("names a page\(response.shown(url, hiding: [code])) that isn't https")
            }
            return url
        }
        self.code = code
        userCode = try text("user_code", 128)
        // Some servers have kept a draft's name.
        verificationURI = try page(text(json["verification_uri"] == nil ? "verification_url" : "verification_uri", 2048))
        verificationURIComplete =
            if json["verification_uri_complete"]?.string != nil { try page(text("verification_uri_complete", 4096)) } else { nil }
        lifetime = .seconds(max(1, min(json["expires_in"]?.integer ?? 600, 86_400)))
        interval = .seconds(max(1, min(json["interval"]?.integer ?? 5, 600)))
    }
}
