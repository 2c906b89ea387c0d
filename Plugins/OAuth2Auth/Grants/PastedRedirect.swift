internal import NevodPluginKit
internal import NevodSupport

/// A person's copy of the address where the browser ended, or of the code that the server's page shows.
enum PastedRedirect {
    case response(AuthorizationResponse)
    case code(Secret)
    /// The reason completes "the last one …".
    case unusable(String)

    private static let longest = 16_384

    /// - Parameter takesCodes: whether a code alone is enough: one without an address has no state and no issuer.
    init(_ answer: Secret, to request: AuthorizationRequest, takesCodes: Bool) {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
        let whole = String(revealing: answer)
        var bytes = whole.utf8.drop(while: isBlank)
        while let last = bytes.last, isBlank(last) { bytes = bytes.dropLast() }
        let text = String(Substring(bytes))
        guard !text.isEmpty, text.utf8.count <= Self.longest, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            self = .unusable("is neither an address nor a code")
            return
        }
        let place = RedirectAddress.place(of: request.redirectURI)
        if RedirectAddress.place(of: text).utf8.elementsEqual(place.utf8) {
            let response = AuthorizationResponse(address: text)
            self = response.answers(request.state) ? .response(response) : .unusable("is not of this login")
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
