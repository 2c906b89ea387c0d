internal import CPSL
internal import NevodSupport

/// The domains under which anybody can register one (publicsuffix.org), by libpsl, which libcurl uses too.
enum PublicSuffix {
    // Read once, never changed: libpsl's look-ups only read.
    private nonisolated(unsafe) static let list = psl_latest(nil)

    /// - Parameter domain: canonical. A name without a dot is a suffix unless the list says otherwise.
    static func contains(_ domain: String) -> Bool {
        psl_is_public_suffix(list, domain.withoutDotsAtEnd) != 0
    }
}
