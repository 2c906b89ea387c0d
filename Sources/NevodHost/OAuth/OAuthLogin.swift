/// One login with a browser, from the address that is opened to the code that comes back (RFC 6749 §4.1).
///
/// ```swift
/// let login = OAuthLogin(redirectURI: "com.example.app:/login")
/// openInBrowser(try await client.authorizationURL(for: login))
/// // The system passes on the address to which the browser was redirected.
/// let token = try await client.exchange(redirect: address, for: login)
/// ```
///
/// It holds what ties the response to this request: keep it where only the person who has begun the login can bring it back,
/// such as the memory of an app or the session of a web site, and use it once.
public struct OAuthLogin: Sendable, Redacted {
    /// The address that the server redirects the browser to, as it is registered there (RFC 6749 §3.1.2).
    public let redirectURI: String
    /// Ties the response to this login (RFC 6749 §10.12).
    public let state: String
    /// Ties the authorization code to this program (RFC 7636).
    public let verifier: PKCEVerifier

    /// Begins a login with a random state and verifier, or restores one.
    public init(redirectURI: String, state: String? = nil, verifier: PKCEVerifier = PKCEVerifier()) {
        self.redirectURI = redirectURI
        self.state = state ?? RandomText.make()
        self.verifier = verifier
    }
}
