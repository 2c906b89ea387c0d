internal import CCurl
internal import Glibc

extension TransportError {
    /// - Parameters:
    ///   - message: the text in the handle's error buffer, which is more specific than the code's.
    ///   - proxy: the proxy's host and port, if the transfer used one.
    init(_ curl: CURLcode, _ message: String, proxy: String? = nil) {
        let code: Code =
            switch curl {
            case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .hostNotFound
            case CURLE_COULDNT_CONNECT, CURLE_PROXY: .connectionFailed
            case CURLE_OPERATION_TIMEDOUT: .timedOut
            case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR,
                CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CLIENTCERT:
                .tls
            case CURLE_SSL_PINNEDPUBKEYNOTMATCH: .pinMismatch
            case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_CRL_BADFILE,
                CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED:
                .tlsConfiguration
            // libcurl uses one code for a broken connection and for malformed chunks; only the message differs.
            case CURLE_RECV_ERROR where message.range(ofASCII: "chunk") != nil: .malformedResponse
            case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE: .connectionLost
            case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_BAD_CONTENT_ENCODING, CURLE_HTTP2,
                CURLE_HTTP2_STREAM:
                .malformedResponse
            case CURLE_SEND_FAIL_REWIND, CURLE_READ_ERROR: .requestBody
            default: .other
            }
        // libcurl connects only to the proxy, and leaves the server's name to it.
        let isOfProxy = [CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_CONNECT, CURLE_PROXY].contains(curl)
        self.init(
            code, message.isEmpty ? String(cString: curl_easy_strerror(curl)) : message, curlCode: Int32(curl.rawValue),
            proxy: isOfProxy ? proxy : nil)
    }
}

/// The server or proxy that a failed transfer connected to.
struct CurlPeer {
    let origin: Origin
    /// The proxy's host and port, without credentials; nil for a direct connection.
    let proxy: String?
    /// `errno` of the failed connection; 0 if there is none.
    private let systemCode: Int32

    /// - Parameter proxyURL: without credentials. It may lack a scheme.
    init(origin: Origin, proxyURL: String?, systemCode: Int32) {
        self.origin = origin
        self.systemCode = systemCode
        proxy = proxyURL.map(Self.authority)
    }

    /// Returns the system's reason for the failed connection, with the address: libcurl's text says only that the connection
    /// failed. Nil if only libcurl's text is available.
    func failure(_ code: CURLcode) -> String? {
        guard code == CURLE_COULDNT_CONNECT, systemCode != 0 else { return nil }
        return "\(String(cString: strerror(systemCode))) at \(proxy ?? origin.authority)"
    }

    /// Returns the host and port of a URL.
    private static func authority(_ url: String) -> String {
        let start = url.range(ofASCII: "://")?.upperBound ?? url.startIndex
        return String(decoding: url.utf8[start...].prefix { $0 != UInt8(ascii: "/") }, as: UTF8.self)
    }
}
