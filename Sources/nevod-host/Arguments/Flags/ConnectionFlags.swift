extension Flag {
    /// The connection: its destination, proxy, protocols, TLS.
    static let connection: [Flag] = [
        Flag(
            .proxy, "proxy", "x", value: .url("URL"), in: authorizing, [.mayBeEmpty, .locatesLogin],
            help: "Use this proxy instead of the environment's; an empty URL means no proxy"),
        Flag(
            .caFile, "cacert", value: .file("FILE"), in: authorizing, .locatesLogin,
            help: "Trust these certificates (PEM) instead of the system's"),
        Flag(
            .pinnedKey, "pinnedpubkey", value: .text("PINS"), in: authorizing, .locatesLogin,
            help: "Accept only these public keys: sha256//BASE64, separated by ; if there are several, or a file"),
        Flag(
            .certificate, "cert", "E", value: .file("FILE"), in: authorizing, [.locatesLogin, .credential],
            help: "Show the server this certificate (PEM)"),
        Flag(
            .key, "key", value: .file("FILE"), in: authorizing, .locatesLogin,
            help: "The private key (PEM) of --cert, if it is in another file"),
        Flag(
            .proxyUser, "proxy-user", "U", value: .text("USER", standardInput: .whole), in: authorizing, .locatesLogin,
            help:
                "Basic authentication at the proxy; USER is a name, to be asked for the password, or env:VARIABLE, file:PATH or - with name:password"
        ),
        Flag(
            .noProxy, "noproxy", value: .text("HOSTS"), in: authorizing, [.mayBeEmpty, .locatesLogin],
            help:
                "Connect to these hosts without a proxy, instead of the hosts in no_proxy; several separated by commas, * for all"
        ),
        Flag(
            .resolve, "resolve", value: .text("HOST:PORT:ADDRESS"), in: authorizing, [.repeatable, .locatesLogin],
            help: "Use this address of a host; several separated by commas. HOST still decides about credentials"),
        Flag(
            .connectTo, "connect-to", value: .text("HOST:PORT:TO:PORT"), in: authorizing, [.repeatable, .locatesLogin],
            help: "Connect to another host or port; an empty HOST or PORT matches any. HOST still decides about credentials"),
        Flag(
            .unixSocket, "unix-socket", value: .file("PATH"), in: authorizing, .locatesLogin,
            help: "Connect to this Unix domain socket instead of the URL's host"),
        Flag(
            .abstractUnixSocket, "abstract-unix-socket", value: .text("NAME"), in: authorizing, .locatesLogin,
            help: "Connect to this abstract Unix domain socket, which is not a file"),
        Flag(
            .ipv4, "ipv4", "4", in: authorizing, .locatesLogin,
            help: "Connect to IPv4 addresses only"),
        Flag(
            .ipv6, "ipv6", "6", in: authorizing, .locatesLogin,
            help: "Connect to IPv6 addresses only"),
        Flag(
            .interface, "interface", value: .text("NAME"), in: authorizing, .locatesLogin,
            help: "Send from this network interface, address or host"),
        Flag(
            .localPort, "local-port", value: .text("PORT"), in: authorizing, .locatesLogin,
            help: "Send from this port, or one of FIRST-LAST"),
        Flag(
            .http11, "http1.1", in: authorizing, .locatesLogin,
            help: "Use HTTP/1.1"),
        Flag(
            .http2, "http2", in: authorizing, .locatesLogin,
            help: "Use HTTP/2 if the server supports it; for http:// URLs, by an upgrade"),
        Flag(
            .http2PriorKnowledge, "http2-prior-knowledge", in: authorizing, .locatesLogin,
            help: "Use HTTP/2 without asking the server"),
        Flag(
            .tls12, "tlsv1.2", in: authorizing, .locatesLogin,
            help: "Use TLS 1.2 or later"),
        Flag(
            .tls13, "tlsv1.3", in: authorizing, .locatesLogin,
            help: "Use TLS 1.3"),
        Flag(
            .tlsMax, "tls-max", value: .text("VERSION"), in: authorizing, .locatesLogin,
            help: "The highest version of TLS: 1.2, 1.3 or default"),
        Flag(
            .ciphers, "ciphers", value: .text("LIST"), in: authorizing, .locatesLogin,
            help: "The ciphers for TLS 1.2, as OpenSSL writes them"),
        Flag(
            .tls13Ciphers, "tls13-ciphers", value: .text("LIST"), in: authorizing, .locatesLogin,
            help: "The ciphers for TLS 1.3"),
        Flag(
            .limitRate, "limit-rate", value: .text("SPEED"), in: sending,
            help: "Send and receive at most this many bytes per second; with the suffix K, M or G, this many KiB, MiB or GiB"),
    ]
}

extension Flag {
    /// The flags for the course of a request: redirects, retries, limits.
    static let transfer: [Flag] = [
        Flag(
            .location, "location", "L", in: sending,
            help: "Follow redirects; credentials stay at the origin they are meant for"),
        Flag(
            .maxRedirects, "max-redirs", value: .text("COUNT"), in: sending,
            help: "Follow at most COUNT redirects (default 10)"),
        Flag(
            .retry, "retry", value: .text("COUNT"), in: sending,
            help: "Retry up to COUNT times after a transient failure: no connection, a timeout, 408, 429, 500, 502, 503, 504"),
        Flag(
            .retryDelay, "retry-delay", value: .text("SECONDS"), in: sending,
            help: "Wait this long before each retry, instead of 1, 2, 4 … s; 0 for the default. A longer Retry-After wins"),
        Flag(
            .retryMaxTime, "retry-max-time", value: .text("SECONDS"), in: sending,
            help: "Stop retrying this long after the first attempt; 0 for no limit"),
        Flag(
            .retryConnectionRefused, "retry-connrefused", in: sending,
            help: "Changes nothing: --retry retries a refused connection anyway"),
        Flag(
            .retryAllErrors, "retry-all-errors", in: sending,
            help: "With --retry, retry even after failures that aren't transient, such as an untrusted certificate"),
        Flag(
            .compressed, "compressed", in: sending,
            help: "Ask for a compressed response and decompress it"),
        Flag(
            .maxTime, "max-time", "m", value: .text("SECONDS"), in: sending,
            help: "Give up after this time; fractions are allowed"),
        Flag(
            .maxFileSize, "max-filesize", value: .text("BYTES"), in: sending,
            help: "Give up if the response body is larger"),
        Flag(
            .connectTimeout, "connect-timeout", value: .text("SECONDS"), in: authorizing, .locatesLogin,
            help: "Give up if connecting takes longer (default 30)"),
    ]
}
