internal import CPSL
internal import NevodSupport

/// Domains under which names can be registered publicly (publicsuffix.org), looked up with libpsl, which libcurl uses too.
enum PublicSuffix {
    // Immutable once loaded: libpsl's look-ups only read.
    private nonisolated(unsafe) static let list = psl_latest(nil)

    /// - Parameter domain: a canonical name. One without a dot is a suffix unless the list says otherwise.
    static func contains(_ domain: String) -> Bool {
        psl_is_public_suffix(list, domain.withoutDotsAtEnd) != 0
    }

    /// The site of a host: the part of its name that is registered, `example.co.uk` of `www.example.co.uk`. An address, and a
    /// public suffix, is a site of its own.
    static func site(of domain: String) -> String {
        let name = domain.withoutDotsAtEnd
        guard !CookieScope.isAddress(name) else { return name }
        return name.withCString { psl_registrable_domain(list, $0).map { String(cString: $0) } } ?? name
    }
}
