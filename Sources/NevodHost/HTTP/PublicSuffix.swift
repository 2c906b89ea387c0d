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
}
