/// curl's flags that this program doesn't have, and what to do instead. (A flag that both have is a ``Flag``.)
enum CurlFlag {
    /// Returns the end of an error about an unknown long flag, given without its dashes; nil if curl has no such flag either.
    static func hint(forLong name: some StringProtocol) -> String? {
        hints.first { hint in hint.flags.contains { $0 == name } }.map { " is curl's; \($0.text)" }
    }

    /// Returns the same hint for a short flag.
    static func hint(forShort letter: Character) -> String? {
        letters.first { $0.letter == letter }.flatMap { hint(forLong: $0.long) }
    }

    static let hints: [(flags: [String], text: String)] = [
        (
            ["insecure", "proxy-insecure", "doh-insecure"],
            "it accepts any certificate, so an impostor would get the credential; trust the server's own CA with --cacert FILE, "
                + "or its key with --pinnedpubkey sha256//BASE64"
        ),
        (
            ["location-trusted"],
            "it sends the credential to every origin that a redirect names; write -L, and use another command for the other origin"
        ),
        (["post301", "post302", "post303"], "a redirect's status decides the method (RFC 9110 §15.4): 307 and 308 keep it"),
        (["tlsv1", "tlsv1.0", "tlsv1.1", "sslv2", "sslv3"], "TLS 1.2 is the oldest supported version, and needs no flag"),
        (["curves"], "the configuration of the system's OpenSSL chooses the curves"),
        (
            ["capath", "crlfile", "cert-status", "cert-type", "key-type", "engine", "pass"],
            "give certificates and keys as PEM files: --cacert, --cert, --key"
        ),
        (["false-start", "no-alpn", "no-npn", "no-sessionid", "ssl-allow-beast"], "the TLS handshake has no such option here"),
        (
            ["negotiate", "ntlm", "ntlm-wb", "delegation", "service-name", "krb"],
            "write a plugin for it: see nevod-host new --help; Basic, Digest and Bearer are built in"
        ),
        (["aws-sigv4"], "write a plugin for it: see nevod-host new --help"),
        (["sasl-authzid", "sasl-ir", "login-options"], "it is for mail, and only HTTP is supported"),
        (["tlsauthtype", "tlspassword", "tlsuser"], "it is for TLS-SRP, which is not supported"),
        (
            [
                "proxy-anyauth", "proxy-basic", "proxy-digest", "proxy-negotiate", "proxy-ntlm", "proxy-header", "proxy-cacert",
                "proxy-capath", "proxy-cert", "proxy-cert-type", "proxy-ciphers", "proxy-crlfile", "proxy-key", "proxy-key-type",
                "proxy-pass", "proxy-pinnedpubkey", "proxy-service-name", "proxy-ssl-allow-beast", "proxy-ssl-auto-client-cert",
                "proxy-tls13-ciphers", "proxy-tlsauthtype", "proxy-tlspassword", "proxy-tlsuser", "proxy-tlsv1", "proxy1.0",
                "proxytunnel", "preproxy", "socks4", "socks4a", "socks5", "socks5-hostname", "socks5-basic", "socks5-gssapi",
                "socks5-gssapi-nec", "socks5-gssapi-service", "suppress-connect-headers", "haproxy-protocol",
            ],
            "choose a proxy with --proxy URL, or with https_proxy and http_proxy in the environment"
        ),
        (
            [
                "alt-svc", "hsts", "http0.9", "http1.0", "http3", "http3-only", "expect100-timeout",
                "ignore-content-length", "raw", "tr-encoding", "request-target",
            ],
            "only HTTP/1.1 and HTTP/2 are supported, without such variants"
        ),
        (
            [
                "dns-interface", "dns-ipv4-addr", "dns-ipv6-addr", "dns-servers", "doh-cert-status", "doh-url",
                "happy-eyeballs-timeout-ms", "keepalive-time", "tcp-fastopen",
                "no-keepalive",
            ],
            "the system resolves names and manages connections"
        ),
        (["tcp-nodelay"], "it is always on, as in curl; leave it out"),
        (["speed-limit", "speed-time"], "--max-time limits the whole command"),
        (["time-cond"], "write -H 'If-Modified-Since: DATE'"),
        (["etag-compare", "etag-save"], "write -H 'If-None-Match: ETAG'; -i prints the response's ETag"),
        (
            ["crlf", "use-ascii", "append", "list-only", "compressed-ssh"],
            "it is for FTP or another protocol, and only HTTP is supported"
        ),
        (
            [
                "disable-eprt", "disable-epsv", "ftp-account", "ftp-alternative-to-user", "ftp-create-dirs", "ftp-method",
                "ftp-pasv",
                "ftp-port", "ftp-pret", "ftp-skip-pasv-ip", "ftp-ssl-ccc", "ftp-ssl-ccc-mode", "ftp-ssl-control", "hostpubmd5",
                "hostpubsha256", "mail-auth", "mail-from", "mail-rcpt", "mail-rcpt-allowfails", "pubkey", "quote", "ssl",
                "ssl-reqd",
                "telnet-option", "tftp-blksize", "tftp-no-options",
            ],
            "it is for another protocol, and only HTTP is supported; https:// uses TLS"
        ),
        (["ssl-auto-client-cert", "ssl-no-revoke", "ssl-revoke-best-effort"], "it is for Windows"),
        (["proto-default"], "write the scheme in the URL"),
        (["proto-redir"], "--proto limits redirects as well"),
        (["libcurl"], "nevod-host sign --curl prints a curl command"),
        (["manual"], "nevod-host manual prints the manual page"),
        (["trace", "trace-ascii", "trace-time"], "-v prints the heads of requests and responses, without secrets"),
        (["stderr"], "redirect standard error with 2>FILE"),
        (["styled-output"], "leave it out: nothing is added to output that is not a terminal"),
        (
            ["create-file-mode", "xattr"],
            "the file of -o appears when it is complete, with the usual mode of a new file"
        ),
        (["disable"], "~/.curlrc is never read; leave it out"),
        (["egd-file", "random-file"], "random bytes come from the system"),
        (["metalink"], "curl itself no longer has it"),
        (["disallow-username-in-url"], "a URL with a user name is always refused; leave it out"),
        (["parallel-immediate", "rate"], "write a command for each URL"),
    ]

    private static let letters: [(letter: Character, long: String)] = [
        ("k", "insecure"), ("a", "append"), ("l", "list-only"), ("M", "manual"), ("P", "ftp-port"), ("Q", "quote"),
        ("t", "telnet-option"), ("z", "time-cond"), ("B", "use-ascii"), ("y", "speed-time"), ("Y", "speed-limit"),
        ("0", "http1.0"),
        ("1", "tlsv1"), ("2", "sslv2"), ("3", "sslv3"), ("q", "disable"),
    ]
}
