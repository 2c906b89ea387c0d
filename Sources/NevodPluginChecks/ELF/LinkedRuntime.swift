/// Code of others that is linked into a library, and imports or does more than the plugin's own code asks for.
enum LinkedRuntime: String {
    case swift = "Swift's runtime"
    case go = "Go's runtime"
    case libcrypto = "OpenSSL's libcrypto"
}

extension ELFTables {
    /// The runtime of the plugin's language.
    var runtime: LinkedRuntime? {
        if sections.contains(where: { $0.name.hasPrefix("swift5_") }) { return .swift }
        return has(section: ".go.buildinfo") ? .go : nil
    }

    /// Whether libcrypto is within, which brings sockets, and libssl isn't, which uses them. The names of their source files, which their
    /// errors contain, tell.
    var hasLibcryptoAlone: Bool {
        has("crypto/bio/bio_lib.c", inSection: ".rodata") && !has("ssl/ssl_lib.c", inSection: ".rodata")
    }

    /// The functions of the network and of signals that libcrypto imports, whatever is used of it.
    static var importsOfLibcrypto: Set<String> {
        [
            "getaddrinfo", "gethostbyname", "listen", "accept", "socket", "connect", "bind", "send", "sendto", "sendmsg",
            "sendmmsg",
            "recv", "recvfrom", "recvmsg", "recvmmsg", "sigaction", "signal",
        ]
    }
}
