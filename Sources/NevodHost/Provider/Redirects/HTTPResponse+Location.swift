internal import NevodSupport

extension HTTPResponse {
    /// The reference in `Location` (RFC 9110 §10.2.2); nil if there is none. Bytes that aren't UTF-8 are percent-encoded, so that the
    /// server gets back the bytes that it sent.
    var location: String? {
        headers.bytes(of: "Location").map { bytes in
            if let text = String(validating: bytes, as: UTF8.self) { return text }
            var encoded: [UInt8] = []
            for byte in bytes {
                if byte < 0x80 { encoded.append(byte) } else { PercentEncoding.append(byte, to: &encoded) }
            }
            return String(decoding: encoded, as: UTF8.self)
        }
    }
}

extension HTTPRequest {
    /// The absolute URL of `Location` in a response to this request (RFC 9110 §10.2.2), as the server wrote it; nil if there is none.
    package func redirectURL(of response: HTTPResponse) -> String? { response.location.map(resolving) }
}
