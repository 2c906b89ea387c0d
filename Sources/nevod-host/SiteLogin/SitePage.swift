import NevodHost
import NevodSupport

/// The page that the address given to `login` led to.
struct SitePage {
    /// The largest page that is read, in bytes.
    static let largest = 1 << 20

    /// The address that was typed.
    let given: SiteAddress
    /// The address of the page, after all redirects.
    let address: SiteAddress
    let status: Int
    let challenges: [AuthChallenge]
    /// The names of the cookies that the responses set.
    let cookies: [String]
    let html: HTMLPage

    /// The address of the page for settings, without parts that belong to this visit.
    var lasting: SiteAddress { address.withoutVisit(from: given) }

    /// Whether a redirect of the site led from the typed address to another page.
    var isRedirected: Bool { asked.map { $0.path != address.path } ?? false }
}
