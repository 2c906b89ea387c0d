import NevodHost

/// Builds the transport's configuration and the request's options from the flags.
struct SessionBuilder {
    let arguments: Arguments

    func configuration() throws -> CurlSession.Configuration {
        // The variables of curl and OpenSSL.
        let certificates = ["CURL_CA_BUNDLE", "SSL_CERT_FILE"].compactMap(environment).first { !$0.isEmpty }
        return CurlSession.Configuration(
            caFile: arguments.value(.caFile) ?? certificates,
            pinnedPublicKey: arguments.value(.pinnedKey),
            clientCertificate: try clientCertificate(),
            proxy: try proxy(),
            decompresses: arguments.has(.compressed),
            proxyUser: try proxyUser(),
            connection: try ConnectionBuilder(arguments: arguments).settings())
    }

    func options() throws -> RequestOptions {
        var options = RequestOptions(timeout: nil, delivery: .streamed, redirects: .none)
        if let limit = try maxTime() { options.timeout = TimeLimit.remaining(of: limit) }
        if let limit = try seconds(.connectTimeout) { options.connectTimeout = limit }
        let redirects = try count(.maxRedirects) ?? 10
        if arguments.has(.location) { options.redirects = .follow(limit: redirects) }
        if let retries = try count(.retry) { options.retryPolicy = try retryPolicy(retries) }
        options.schemeParameters = try schemeParameters()
        return options
    }

    /// The time of `--max-time`, from the start of the process.
    func maxTime() throws -> Duration? { try seconds(.maxTime) }

    /// The parameters of `--param`. Splits by bytes, as `--set` does.
    func schemeParameters() throws -> SchemeParameters {
        var parameters = SchemeParameters()
        for text in arguments.values(.param) {
            guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")), equals != text.utf8.startIndex else {
                throw UsageError("--param needs a name and a value: --param NAME=VALUE")
            }
            parameters.add(String(text[..<equals]), String(decoding: text.utf8[equals...].dropFirst(), as: UTF8.self))
        }
        return parameters
    }

    /// Retries any method and without jitter: jitter is for many clients that failed together, and here a person asked for the
    /// retries of one request. The waits double from 1 s, or are those of `Retry-After` (RFC 9110 §10.2.3) up to 10 minutes.
    private func retryPolicy(_ retries: Int) throws -> RetryPolicy {
        var policy = RetryPolicy(
            maxAttempts: retries + 1, baseDelay: .seconds(1), maxDelay: .seconds(600), jitter: false, retriesUnsafeMethods: true,
            isBudgeted: false)
        // As for curl, zero stands for the default.
        if let delay = try seconds(.retryDelay, mayBeZero: true), delay > .zero {
            (policy.baseDelay, policy.maxDelay, policy.multiplier) = (delay, max(delay, policy.maxDelay), 1)
        }
        if let limit = try seconds(.retryMaxTime, mayBeZero: true), limit > .zero { policy.maxTime = limit }
        policy.retriesAllFailures = arguments.has(.retryAllErrors)
        return policy
    }

    /// Returns the largest allowed response body in bytes; `.max` without `--max-filesize`.
    func maxFileSize() throws -> Int64 {
        guard let text = arguments.value(.maxFileSize) else { return .max }
        guard text.utf8.allSatisfy(Self.isDigit), let size = Int64(text) else {
            throw UsageError("--max-filesize \(text) is not a number of bytes")
        }
        return size
    }

    private func clientCertificate() throws -> CurlSession.ClientCertificate? {
        guard let file = arguments.value(.certificate) else {
            guard !arguments.has(.key) else { throw UsageError("--key needs a --cert") }
            return nil
        }
        return CurlSession.ClientCertificate(certificateFile: file, keyFile: arguments.value(.key))
    }

    private func proxy() throws -> ProxySettings {
        let proxy = try chosenProxy()
        // As with curl, these hosts are direct even if the proxy comes from a flag.
        let direct = ["no_proxy", "NO_PROXY"].compactMap(environment).first { !$0.isEmpty }
        return (arguments.value(.noProxy) ?? direct).map(proxy.bypassing) ?? proxy
    }

    private func proxyUser() throws -> Secret? {
        guard let source = arguments.value(.proxyUser) else { return nil }
        guard arguments.has(.proxy) || arguments.typed.contains(where: { $0.name == .proxyUser }) else {
            throw UsageError(
                "--proxy-user is in the profile, which names no proxy, so that the password would go to any proxy of the environment; "
                    + "write a line proxy = URL into the profile, or type --proxy-user")
        }
        let console = Console(isSilent: arguments.has(.silent), verbosity: arguments.verbosity)
        let user = try UserSource(console: console).userAndPassword(source, flag: "-U", prompt: "Proxy password of")
        user.withUnsafeBytes { bytes in
            Redaction.shared.learn(secret: bytes)
            Redaction.shared.learn(secret: bytes.drop { $0 != UInt8(ascii: ":") }.dropFirst())
        }
        return user
    }

    private func chosenProxy() throws -> ProxySettings {
        guard let url = arguments.value(.proxy) else { return ProxySettings() }
        for secret in Redaction.secrets(inProxy: url) { Redaction.shared.learn(secret: secret) }
        guard !url.utf8.contains(UInt8(ascii: "@")) else {
            throw UsageError(
                "--proxy contains credentials, and a command line can be read by other processes; "
                    + "write --proxy-user NAME to be asked, or --proxy-user env:VARIABLE, or set https_proxy or http_proxy")
        }
        return url.isEmpty ? .none : ProxySettings(url: url)
    }

    private func seconds(_ name: Flag.Name, mayBeZero: Bool = false) throws -> Duration? {
        guard let text = arguments.value(name) else { return nil }
        // Only digits and a point: Double also parses hexadecimal, exponents and `inf`.
        let isPlain = text.utf8.allSatisfy { $0 == UInt8(ascii: ".") || Self.isDigit($0) }
        guard isPlain, let seconds = Double(text), seconds > 0 || mayBeZero, seconds < 1e9 else {
            throw UsageError("\(name.spelling) \(text) is not a number of seconds")
        }
        return seconds == 0 ? .zero : .milliseconds(max(1, Int64(seconds * 1000)))
    }

    private func count(_ name: Flag.Name) throws -> Int? {
        guard let text = arguments.value(name) else { return nil }
        guard text.utf8.allSatisfy(Self.isDigit), let count = Int(text), count <= 50 else {
            throw UsageError("\(name.spelling) \(text) is not a number from 0 to 50")
        }
        return count
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }
}
