import NevodHost

extension ErrorText {
    /// Returns the way out of a failed connection.
    func hint(for error: TransportError) -> String {
        if error.proxy != nil { return "; \(proxySource)" }
        return switch error.code {
        case .hostNotFound where error.curlCode == 5: "; \(proxySource)"
        case .hostNotFound: "; check the spelling, and this machine's connection"
        case .connectionFailed where error.message.contains("refused"):
            "; check the host and the port, and whether the server is running"
        case .tls where error.curlCode == 60: certificateHint(error.message)
        case .tls where Self.isPlain(error.message):
            "; the server doesn't speak TLS there: check the port, or whether the URL begins with http://"
        // An incomplete body (18) follows a head.
        case .connectionLost where isPlainURL && error.curlCode != 18: "; if the server expects TLS, begin the URL with https://"
        case .malformedResponse where error.message.contains("HTTP/0.9"):
            "; what the server sends is not HTTP: check the port, or whether the URL begins with https://"
        case .pinMismatch: pinHint
        case .timedOut where error.message.contains("onnection timed out"):
            "; check the host, the port and firewalls, or raise --connect-timeout"
        default: ""
        }
    }

    /// Names where the proxy was configured, and how to do without it.
    private var proxySource: String {
        if arguments?.has(.proxy) == true { return "the proxy is that of \(source(of: .proxy)); --proxy '' connects directly" }
        let variables =
            isPlainURL ? ["http_proxy", "all_proxy", "ALL_PROXY"] : ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
        guard let variable = variables.first(where: { environment($0)?.isEmpty == false }) else { return "check the proxy" }
        return "the proxy is that of the environment variable \(variable); --proxy '' connects directly"
    }

    private var isPlainURL: Bool { arguments?.operands.first?.lowercased().hasPrefix("http://") ?? false }

    /// OpenSSL's words for a first record that isn't TLS.
    private static func isPlain(_ message: String) -> Bool {
        ["wrong version number", "packet length too long", "record layer failure", "http request"].contains {
            message.contains($0)
        }
    }

    private func certificateHint(_ message: String) -> String {
        if message.contains("has expired") { return "; the server needs a new certificate, unless this machine's clock is wrong" }
        if message.contains("not yet valid") { return "; this machine's clock may be wrong" }
        if message.contains("alternative certificate subject name") { return "; request the server by a name in its certificate" }
        guard ["issuer", "self-signed", "self signed", "first certificate"].contains(where: message.contains) else { return "" }
        guard let place = loopback else { return "; if you trust the server, give the certificate of its CA: --cacert FILE" }
        return "; if it is your own server, save its certificate with: openssl s_client -connect \(place) </dev/null "
            + "| openssl x509 >server.pem; then add --cacert server.pem"
    }

    /// The host and port of the only URL, if they are on this machine and no redirect may have left it.
    private var loopback: String? {
        guard let arguments, arguments.operands.count == 1, !arguments.has(.location),
            let origin = try? HTTPRequest(.get, arguments.operands[0]).origin,
            origin.host == "localhost" || origin.host.hasPrefix("127.") || origin.host == "::1" || origin.host == "[::1]"
        else { return nil }
        return "\(origin.host.contains(":") && !origin.host.hasPrefix("[") ? "[\(origin.host)]" : origin.host):\(origin.port)"
    }

    private var pinHint: String {
        guard let pins = arguments?.value(.pinnedKey), !pins.hasPrefix("sha256//"), CertificateFile(pins).problem != nil else {
            return ""
        }
        return "; --pinnedpubkey takes sha256//BASE64 or a file with the key, and \"\(pins)\" is neither"
    }
}
