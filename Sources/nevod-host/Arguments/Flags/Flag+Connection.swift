extension Flag {
    /// The connection: where it leads, proxy, protocols, TLS.
    static let connection: [Flag] = [
        Flag(
            .proxy, "proxy", "x", value: .url("URL"), in: authorizing, [.mayBeEmpty, .locatesLogin],
            help: "Use this proxy instead of the environment's; an empty URL for none"),
        Flag(
            .caFile, "cacert", value: .file("FILE"), in: authorizing, .locatesLogin,
            help: "Trust these certificates (PEM) instead of the system's"),
        Flag(
            .pinnedKey, "pinnedpubkey", value: .text("PINS"), in: authorizing, .locatesLogin,
            help: "Accept only this public key: sha256//BASE64, several with ; or a file"),
        Flag(
            .certificate, "cert", "E", value: .file("FILE"), in: authorizing, [.locatesLogin, .credential],
            help: "Show the server this certificate (PEM)"),
        Flag(
            .key, "key", value: .file("FILE"), in: authorizing, .locatesLogin,
            help: "The private key (PEM) of --cert, if it is in another file"),
        Flag(
            .proxyUser, "proxy-user", "U", value: .text("USER", standardInput: .whole), in: authorizing, .locatesLogin,
            help:
                "Basic authentication at the proxy; USER is a name whose password is asked for, or env:VARIABLE, file:PATH or - for name:password"
        ),
        Flag(
            .noProxy, "noproxy", value: .text("HOSTS"), in: authorizing, [.mayBeEmpty, .locatesLogin],
            help: "Connect to these hosts directly, instead of those of no_proxy; several with commas, * for all"),
        Flag(
            .resolve, "resolve", value: .text("HOST:PORT:ADDRESS"), in: authorizing, [.repeatable, .locatesLogin],
            help: "Use this address of a host; several with commas. Credentials are still those for HOST"),
        Flag(
            .connectTo, "connect-to", value: .text("HOST:PORT:TO:PORT"), in: authorizing, [.repeatable, .locatesLogin],
            help: "Connect to another host or port; an empty HOST or PORT matches any. Credentials are still those for HOST"),
        Flag(
            .unixSocket, "unix-socket", value: .file("PATH"), in: authorizing, .locatesLogin,
            help: "Connect to this Unix domain socket instead of the URL's host"),
        Flag(
            .abstractUnixSocket, "abstract-unix-socket", value: .text("NAME"), in: authorizing, .locatesLogin,
            help: "The same, with a name that is no file"),
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
            help: "Use HTTP/2 where the server has it, with http:// by an upgrade"),
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
            help: "Send and receive at most so many bytes per second; K, M or G may follow (1024 …)"),
    ]
}
