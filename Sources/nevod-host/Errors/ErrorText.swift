import Glibc
import NevodHost

/// The line that reports an error: the error's own text, and a hint from the command line, such as the flag that helps.
struct ErrorText {
    /// Nil if the command line could not be parsed.
    let arguments: Arguments?

    func text(of error: any Error) -> String {
        let cause = NetworkError.cause(of: error)
        return (cause as? TransportError).flatMap(certificateProblem) ?? "\(error)\(hint(for: cause))"
    }

    private func hint(for error: any Error) -> String {
        switch error {
        case let error as TransportError: hint(for: error)
        case let error as PluginError: hint(for: error)
        case let error as PresetError: hint(for: error)
        case let error as InvalidRequestError: hint(for: error)
        case let error as OutputError: hint(for: error)
        case is StorageError where arguments.map { Flag.flags(of: $0.command).contains { $0.name == .noStore } } == true:
            "; or log in for this command only, with --no-store"
        default: ""
        }
    }

    private func hint(for error: PluginError) -> String {
        switch error.reason {
        case .notFound: PluginSuggestion.hint(for: error)
        case .unknownSetting(_, let name, let valid): Suggestions.hint(for: name, among: valid)
        case .unknownScheme(let id, let offered): Suggestions.hint(for: id, among: offered)
        case .schemeNotChosen: ", with --scheme ID"
        case .flowFault: "; -v shows what it sends"
        case .failed where error.isRefusedLogin: "; check the answers and the settings"
        default: ""
        }
    }

    private func hint(for error: PresetError) -> String {
        switch error.reason {
        case .unknown(_, let known): unknownPreset(error.preset, known)
        case .missingValues(let missing): "; write " + missing.map { "--set \($0.name)=VALUE" }.joined(separator: " ")
        default: ""
        }
    }

    private func unknownPreset(_ name: String, _ known: [String]) -> String {
        let near = Suggestions.hint(for: name, among: known)
        return near.isEmpty && known.count > PresetError.mostListed ? "; nevod-host help presets lists them" : near
    }

    private func hint(for error: OutputError) -> String {
        switch error.errorNumber {
        case EISDIR: "; name a file in it"
        case ENOENT, ENOTDIR: "; create its folder first"
        case ENOSPC: "; free some space, or choose another place"
        default: ""
        }
    }

    /// Names the place of a flag's value: the flag, or the profile if the flag was not typed.
    func source(of name: Flag.Name) -> String {
        guard let arguments, !arguments.typed.contains(where: { $0.name == name }), let profile = arguments.profile?.name else {
            return name.spelling
        }
        return "\(name.spelling.dropFirst(2)) in the profile \"\(profile)\""
    }
}

extension ErrorText {
    /// Returns a hint about a failed connection.
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
        // Before an incomplete body (18), a head was received, so the server doesn't expect TLS.
        case .connectionLost where isPlainURL && error.curlCode != 18: "; if the server expects TLS, begin the URL with https://"
        case .malformedResponse where error.message.contains("HTTP/0.9"):
            "; what the server sends is not HTTP: check the port, or whether the URL begins with https://"
        case .pinMismatch: pinHint
        case .timedOut where error.message.contains("onnection timed out"):
            "; check the host, the port and firewalls, or raise --connect-timeout"
        default: ""
        }
    }

    /// Names the place where the proxy was configured, and says how to connect without it.
    private var proxySource: String {
        if arguments?.has(.proxy) == true { return "the proxy comes from \(source(of: .proxy)); --proxy '' connects directly" }
        let variables =
            isPlainURL ? ["http_proxy", "all_proxy", "ALL_PROXY"] : ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
        guard let variable = variables.first(where: { environment($0)?.isEmpty == false }) else { return "check the proxy" }
        return "the proxy comes from the environment variable \(variable); --proxy '' connects directly"
    }

    private var isPlainURL: Bool { arguments?.operands.first?.lowercased().hasPrefix("http://") ?? false }

    /// Whether OpenSSL reports a first record that isn't TLS.
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

extension ErrorText {
    func hint(for error: InvalidRequestError) -> String {
        guard case .url(let url) = error.part else { return "" }
        if let first = url.first, Self.quotes.contains(first) { return "; remove the quotes around it" }
        if let last = url.last, Self.quotes.contains(last) { return "; remove the quote at its end" }
        if ["https://", "http://"].contains(where: url.lowercased().hasPrefix) {
            return url.dropFirst(8).contains("://") ? "; if these are two URLs, put a space between them" : ""
        }
        let scheme = url.prefix { $0 != ":" && $0 != "/" }
        if scheme.count < url.count, let near = Suggestions.nearest(to: String(scheme), among: ["https", "http"]).first {
            return "; did you mean \(near)://?"
        }
        return url.contains("://") ? "; write https:// or http://" : ""
    }

    private static let quotes: Set<Character> = ["\"", "'", "`", "\u{201C}", "\u{201D}", "\u{2018}", "\u{2019}"]
}
