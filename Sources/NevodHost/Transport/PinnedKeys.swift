internal import NevodSupport

/// The public keys that servers must have, by host: certificate pinning. A server with another key is refused, even if a trusted
/// authority has certified it.
///
/// ```swift
/// let pins = try PinnedKeys([
///     "api.example.com": ["sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", backup],
///     "*.cdn.example.com": [cdn],
/// ])
/// let session = CurlSession(CurlSession.Configuration(pins: pins))
/// ```
///
/// Hosts without pins are not affected. A pinned host is refused over `http`, which has no key. Certificates are still verified.
/// Give each host a second pin, for a key that is kept offline, so that a lost key can be replaced.
public struct PinnedKeys: Sendable, Hashable {
    /// The pins of exact hosts, by canonical name.
    private let exact: [String: Pins]
    /// The pins of patterns, with the longest suffix first.
    private let patterns: [Pattern]

    private struct Pattern: Sendable, Hashable {
        /// The end of the host's name; begins with a dot.
        let suffix: String
        let pins: Pins
    }

    private struct Pins: Sendable, Hashable {
        /// The pins in libcurl's form.
        let text: String
        /// SHA-256 of keys (SubjectPublicKeyInfo, RFC 5280 §4.1.2.7).
        let digests: Set<[UInt8]>
    }

    /// No pins.
    public init() {
        exact = [:]
        patterns = []
    }

    /// - Parameter pins: for each host, a pin for each key it may have: `sha256//` and the base64 of the SHA-256 of its public
    ///   key in DER (SubjectPublicKeyInfo), as curl takes it. A host is a name or an address, without a port. `*.example.com` is
    ///   every host below `example.com`, however deep; an exact name, and then the longest such pattern, takes precedence.
    /// - Throws: `TransportError` of code `tlsConfiguration` that names a malformed host or pin, a host without pins, or a host
    ///   that is given twice.
    public init(_ pins: [String: [String]]) throws(TransportError) {
        var (exact, suffixes) = ([String: Pins](), [String: Pins]())
        for (host, texts) in pins {
            let isPattern = host.utf8.starts(with: "*.".utf8)
            guard let name = Self.canonical(isPattern ? host.dropFirst(2) : host[...]), !isPattern || !Self.isAddress(name) else {
                throw Self.error(
                    "'\(host)' is not a host that can have pins",
                    "give a name such as api.example.com, a pattern such as *.example.com, or an address, without scheme and port"
                )
            }
            let parsed = try Self.parse(texts, for: host)
            let isRepeated = (isPattern ? suffixes : exact)[name] != nil
            guard !isRepeated else { throw Self.error("the host \(name) has pins twice", "give all its pins in one list") }
            if isPattern { suffixes[name] = parsed } else { exact[name] = parsed }
        }
        self.exact = exact
        patterns = suffixes.map { Pattern(suffix: ".\($0)", pins: $1) }
            .sorted { ($1.suffix.utf8.count, $0.suffix) < ($0.suffix.utf8.count, $1.suffix) }
    }

    /// Whether there are no pins.
    public var isEmpty: Bool { exact.isEmpty && patterns.isEmpty }

    /// Whether a server of this host may have a key with this digest: one of its pins, or any if the host has none.
    package func allow(_ digest: [UInt8], of host: String) -> Bool {
        pins(of: host).map { $0.digests.contains(digest) } ?? true
    }

    /// Refuses a pinned origin that can't be verified, because it has no TLS.
    package func check(_ origin: Origin) throws(TransportError) {
        guard origin.scheme == .http, pins(of: origin.host) != nil else { return }
        throw TransportError(.pinMismatch, "\(origin.authority) has pins, and a connection over http has no key; use https")
    }

    /// The error for a server with a key that isn't pinned.
    package static func mismatch(at authority: String, curlCode: Int32 = 0) -> TransportError {
        TransportError(
            .pinMismatch, "the key of \(authority) is not pinned; if its owner replaced it, pin the new one",
            curlCode: curlCode)
    }

    /// The pins of a host in libcurl's form; nil if it has none.
    func text(for host: String) -> String? { isEmpty ? nil : pins(of: host)?.text }

    private func pins(of host: String) -> Pins? {
        // A name with a trailing dot names the same host.
        let name = Self.withoutDot(host[...])
        if let pins = exact[String(name)] { return pins }
        return patterns.first { name.utf8.count > $0.suffix.utf8.count && name.hasSuffix($0.suffix) }?.pins
    }

    private static func withoutDot(_ host: Substring) -> Substring {
        host.utf8.last == UInt8(ascii: ".") ? host.dropLast() : host
    }

    /// The host in the form of ``Origin/host``; nil if it is invalid.
    private static func canonical(_ host: Substring) -> String? {
        let name = withoutDot(host)
        if name.utf8.contains(UInt8(ascii: ":")), let address = URLHost.ipv6(name.utf8) { return address }
        guard name.utf8.first != UInt8(ascii: "."), !name.isEmpty else { return nil }
        return URLHost.canonical(name.utf8)
    }

    private static func isAddress(_ name: String) -> Bool {
        name.utf8.contains(UInt8(ascii: ":")) || URLHost.ipv4(name) != nil
    }

    private static func parse(_ texts: [String], for host: String) throws(TransportError) -> Pins {
        guard !texts.isEmpty else {
            throw error("the host \(host) has an empty list of pins", "give a pin for each of its keys, or leave the host out")
        }
        var digests: Set<[UInt8]> = []
        for text in texts {
            let prefix = "sha256//"
            // Only the digest's canonical text is accepted, since libcurl compares texts.
            guard text.utf8.starts(with: prefix.utf8),
                let digest = Base64.decoded(Array(text.utf8.dropFirst(prefix.utf8.count)), .any), digest.count == 32,
                text == prefix + digest.withUnsafeBytes({ Base64.encoded($0) })
            else {
                throw error(
                    "the pin '\(TerminalText.safe(text))' of \(host) is malformed",
                    "give sha256// and the 44 characters of a SHA-256 digest in base64")
            }
            digests.insert(digest)
        }
        return Pins(text: texts.joined(separator: ";"), digests: digests)
    }

    private static func error(_ problem: String, _ remedy: String) -> TransportError {
        TransportError(.tlsConfiguration, "\(problem); \(remedy)")
    }
}
