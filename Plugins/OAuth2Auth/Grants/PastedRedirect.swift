internal import NevodOAuth
internal import NevodPluginKit
internal import NevodSupport

/// A person's copy of the address where the browser ended, or of the code that the server's page shows.
enum PastedRedirect {
    case response(AuthorizationResponse)
    case code(Secret)
    /// The reason completes "the last one …".
    case unusable(String)

    private static let longest = 16_384

    /// - Parameter takesCodes: whether a code alone is enough. A code without an address has no state and no issuer.
    init(_ answer: Secret, to request: AuthorizationRequest, takesCodes: Bool) {
        let whole = String(revealing: answer)
        let text = String(Substring(whole.utf8.trimmed { $0.isBlankOrLineBreak }))
        guard !text.isEmpty, text.utf8.count <= Self.longest, text.utf8.allSatisfy({ $0.isVisible }) else {
            self = .unusable("is neither an address nor a code")
            return
        }
        if let response = AuthorizationResponse(address: text, redirectURI: request.redirectURI) {
            self = response.answers(request.state) ? .response(response) : .unusable("does not belong to this login")
        } else if Self.isAddress(text) {
            self = .unusable("does not begin with \(request.redirectURI)")
        } else if takesCodes {
            self = .code(Secret(text))
        } else {
            self = .unusable("is not the whole address, which this server's login needs")
        }
    }

    private static func isAddress(_ text: String) -> Bool {
        let scheme = text.utf8.prefix { $0 != UInt8(ascii: ":") }
        return text.utf8[scheme.endIndex...].starts(with: "://".utf8)
    }
}
