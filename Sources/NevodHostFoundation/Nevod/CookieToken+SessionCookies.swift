public import NevodHost

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension NevodNamed where Self == CookieToken {
    /// The cookies as Foundation's, without those that it refuses.
    @_disfavoredOverload  // Without a type from the context, the property is the host's own.
    public var sessionCookies: [HTTPCookie] {
        self.NevodHost::sessionCookies.compactMap { HTTPCookie($0) }
    }
}
