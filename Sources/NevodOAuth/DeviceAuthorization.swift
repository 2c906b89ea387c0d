package import NevodSupport

/// The codes with which a person logs in on another device (RFC 8628 §3.2).
package struct DeviceAuthorization: Sendable {
    /// A member is missing or can't be used.
    package struct Fault: Error { package let member: String }

    /// The grant in which a device asks for its token (§3.4).
    package static let grantType = "urn:ietf:params:oauth:grant-type:device_code"

    /// Exchanged for the token; secret.
    package let deviceCode: String
    /// Shown exactly as it is, so it is printable ASCII, at most 64 bytes.
    package let userCode: String
    /// The address at which the person enters the code; at most 512 bytes.
    package let verificationURI: String
    /// The same address with the code in it, at most 2048 bytes; nil if the server has none that can be used.
    package let completeURI: String?
    /// In seconds, up to a day; 15 minutes if the server doesn't say.
    package let lifetime: Int64
    /// The seconds between two requests, up to 5 minutes; 5 seconds if the server doesn't say.
    package let interval: Int64

    /// - Parameter isSafe: whether a person may log in at an address.
    package init(_ json: JSONValue, isSafe: (String) -> Bool) throws(Fault) {
        func text(_ name: String, _ limit: Int) -> String? {
            guard let text = json[name]?.string, !text.isEmpty, text.utf8.count <= limit,
                text.utf8.allSatisfy({ $0.isPrintable })
            else { return nil }
            return text
        }
        guard let deviceCode = text("device_code", 8192) else { throw Fault(member: "device_code") }
        guard let userCode = text("user_code", 64) else { throw Fault(member: "user_code") }
        // Some servers follow a draft, with another name.
        guard let uri = text("verification_uri", 512) ?? text("verification_url", 512), isSafe(uri) else {
            throw Fault(member: "verification_uri, an https address")
        }
        self.deviceCode = deviceCode
        self.userCode = userCode
        verificationURI = uri
        completeURI = text("verification_uri_complete", 2048).flatMap { isSafe($0) ? $0 : nil }
        lifetime = min(TokenResponse.seconds(TokenResponse.number(json["expires_in"])) ?? 900, 86_400)
        interval = min(TokenResponse.seconds(TokenResponse.number(json["interval"])) ?? 5, 300)
    }
}
