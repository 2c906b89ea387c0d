/// The flags of curl that this program doesn't have, with what to do instead. (A flag that both have is a ``Flag``.)
enum CurlFlag {
    /// Returns the end of an error about an unknown long flag, given without its dashes; nil if curl has no such flag either.
    static func hint(forLong name: some StringProtocol) -> String? {
        hints.first { hint in hint.flags.contains { $0 == name } }.map { " is curl's; \($0.text)" }
    }

    /// Returns the same for a letter.
    static func hint(forShort letter: Character) -> String? {
        letters.first { $0.letter == letter }.flatMap { hint(forLong: $0.long) }
    }

    static let hints: [(flags: [String], text: String)] = [
        (
            ["insecure", "proxy-insecure", "doh-insecure"],
            "it takes any server's certificate, and so gives the credential to any thief; trust the server's own authority with "
                + "--cacert FILE, or its key with --pinnedpubkey sha256//BASE64"
        ),
        (
            ["location-trusted"],
            "it sends the credential to every origin that a redirect names; write -L, and ask the other origin with a line of its own"
        ),
        (["post301", "post302", "post303"], "a redirect's status decides the method (RFC 9110 §15.4): 307 and 308 keep it"),
        (["tlsv1", "tlsv1.0", "tlsv1.1", "sslv2", "sslv3"], "TLS 1.2 is the oldest version that is spoken, without any flag"),
        (
            ["curves"], "the curves are those of the system's OpenSSL; its configuration chooses them"
        ),
        (
            ["capath", "crlfile", "cert-status", "cert-type", "key-type", "engine", "pass"],
            "certificates and keys are PEM files: --cacert, --cert, --key"
        ),
        (["false-start", "no-alpn", "no-npn", "no-sessionid", "ssl-allow-beast"], "the handshake has no such switch here"),
        (
            ["negotiate", "ntlm", "ntlm-wb", "delegation", "service-name", "krb"],
            "write a plugin for it, see nevod-host new --help; Basic, Digest and Bearer are built in"
        ),
        (["aws-sigv4"], "write a plugin for it, see nevod-host new --help"),
        (["sasl-authzid", "sasl-ir", "login-options"], "it is for mail"),
        (["tlsauthtype", "tlspassword", "tlsuser"], "it is for TLS-SRP, which is not spoken"),
        (
            [
                "proxy-anyauth", "proxy-basic", "proxy-digest", "proxy-negotiate", "proxy-ntlm", "proxy-header", "proxy-cacert",
                "proxy-capath", "proxy-cert", "proxy-cert-type", "proxy-ciphers", "proxy-crlfile", "proxy-key", "proxy-key-type",
                "proxy-pass", "proxy-pinnedpubkey", "proxy-service-name", "proxy-ssl-allow-beast", "proxy-ssl-auto-client-cert",
                "proxy-tls13-ciphers", "proxy-tlsauthtype", "proxy-tlspassword", "proxy-tlsuser", "proxy-tlsv1", "proxy1.0",
                "proxytunnel", "preproxy", "socks4", "socks4a", "socks5", "socks5-hostname", "socks5-basic", "socks5-gssapi",
                "socks5-gssapi-nec", "socks5-gssapi-service", "suppress-connect-headers", "haproxy-protocol",
            ],
            "a proxy is given with --proxy URL, or with https_proxy and http_proxy in the environment"
        ),
        (
            [
                "alt-svc", "hsts", "http0.9", "http1.0", "http3", "http3-only", "expect100-timeout",
                "ignore-content-length", "raw", "tr-encoding", "request-target",
            ],
            "HTTP/1.1 is spoken, and HTTP/2 where the server offers it, without such variants"
        ),
        (
            [
                "dns-interface", "dns-ipv4-addr", "dns-ipv6-addr", "dns-servers", "doh-cert-status", "doh-url",
                "happy-eyeballs-timeout-ms", "keepalive-time", "tcp-fastopen",
                "no-keepalive",
            ],
            "names and connections are left to the system"
        ),
        (["tcp-nodelay"], "it is always on, as in curl; leave it out"),
        (["speed-limit", "speed-time"], "--max-time limits the whole"),
        (["time-cond"], "write -H 'If-Modified-Since: DATE'"),
        (["etag-compare", "etag-save"], "write -H 'If-None-Match: ETAG'; -i prints the response's ETag"),
        (
            ["crlf", "use-ascii", "append", "list-only", "compressed-ssh"],
            "it is for FTP or another protocol, and only HTTP is spoken"
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
            "it is for another protocol, and only HTTP is spoken; https:// asks for TLS"
        ),
        (["ssl-auto-client-cert", "ssl-no-revoke", "ssl-revoke-best-effort"], "it is for Windows"),
        (["proto-default"], "write the scheme into the URL"),
        (["proto-redir"], "--proto limits redirects as well"),
        (["libcurl"], "nevod-host sign --curl prints a line for curl"),
        (["manual"], "nevod-host manual prints the manual page"),
        (["trace", "trace-ascii", "trace-time"], "-v prints the heads, without secrets"),
        (["stderr"], "write 2>FILE"),
        (["styled-output"], "leave it out: nothing is added where the output is not a terminal"),
        (
            ["create-file-mode", "xattr"],
            "a file of -o appears when it is complete, with the mode of any new file"
        ),
        (["disable"], "there is no ~/.curlrc to leave out"),
        (["egd-file", "random-file"], "random bytes come from the system"),
        (["metalink"], "curl itself no longer has it"),
        (["disallow-username-in-url"], "a URL with a name is always refused; leave it out"),
        (["parallel-immediate", "rate"], "write a line for each URL"),
    ]

    private static let letters: [(letter: Character, long: String)] = [
        ("k", "insecure"), ("a", "append"), ("l", "list-only"), ("M", "manual"), ("P", "ftp-port"), ("Q", "quote"),
        ("t", "telnet-option"), ("z", "time-cond"), ("B", "use-ascii"), ("y", "speed-time"), ("Y", "speed-limit"),
        ("0", "http1.0"),
        ("1", "tlsv1"), ("2", "sslv2"), ("3", "sslv3"), ("q", "disable"),
    ]
}
