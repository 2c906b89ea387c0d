import NevodHost
import NevodSupport

/// An http or https address of a site, split into the parts by which forms and presets are compared.
struct SiteAddress: Equatable {
    let origin: Origin
    /// Begins with a slash.
    private(set) var path: String
    /// Nil without a question mark.
    private(set) var query: String?

    /// Returns nil for a text that can't be requested, such as `javascript:`.
    init?(_ url: String) {
        guard let request = try? HTTPRequest(.get, url) else { return nil }
        origin = request.origin
        let path = request.target.utf8.prefix { $0 != UInt8(ascii: "?") }
        self.path = String(Substring(path))
        query =
            path.endIndex == request.target.endIndex ? nil : String(Substring(request.target.utf8[path.endIndex...].dropFirst()))
    }

    /// The last part of the path that isn't empty; empty for the root.
    var lastName: String { path.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) } ?? "" }
    var target: String { query.map { "\(path)?\($0)" } ?? path }
    var text: String { "\(origin)\(target)" }
    var items: [Substring.UTF8View] { query?.utf8.split(separator: UInt8(ascii: "&")) ?? [] }

    /// Resolves a reference (RFC 3986 §5.2); nil if the result isn't an http or https address.
    func resolving(_ reference: String) -> SiteAddress? {
        SiteAddress(URLReference(reference).resolved(against: origin.description, target))
    }

    /// Returns the address without the parts that change with each visit: the page to go back to, and a session id that is in the
    /// address because there was no cookie (`;jsessionid=`, Jakarta Servlet 6.0, §7.1.3).
    ///
    /// - Parameter given: the address at which the visit began.
    func withoutVisit(from given: SiteAddress) -> SiteAddress {
        var address = self
        let path = path.utf8.split(separator: UInt8(ascii: ";"), maxSplits: 1, omittingEmptySubsequences: false)
        if path.count == 2, String(Substring(path[1].prefix(11))).lowercased() == "jsessionid=" {
            address.path = String(Substring(path[0]))
        }
        let kept = items.filter { !Self.isOfVisit($0, given) }
        guard kept.count < items.count else { return address }
        address.query = kept.isEmpty ? nil : kept.map { String(Substring($0)) }.joined(separator: "&")
        return address
    }

    private static func isOfVisit(_ item: Substring.UTF8View, _ given: SiteAddress) -> Bool {
        let name = item.prefix { $0 != UInt8(ascii: "=") }
        let value = PercentEncoding.decoded(item[name.endIndex...].dropFirst())
        let word = String(Substring(name)).lowercased().filter { $0 != "_" && $0 != "-" }
        return visitNames.contains(word) || value.starts(with: "http://".utf8) || value.starts(with: "https://".utf8)
            || given.path.utf8.count > 1 && (value.elementsEqual(given.path.utf8) || value.elementsEqual(given.target.utf8))
    }

    private static let visitNames: Set<String> = [
        "jsessionid", "phpsessid", "next", "nexturl", "return", "returnto", "returnurl", "returntoquery", "redirect",
        "redirectto",
        "redirecturl", "redirecturi", "continue", "destination", "goto", "back", "backurl", "camefrom", "referer", "referrer",
        "targeturl", "rd",
    ]

    /// Finds the base against which a preset's reference resolves to this address: `https://x/wiki/` for `login` and
    /// `https://x/wiki/login`. The address must have all query items of the reference.
    ///
    /// - Parameters:
    ///   - fields: the fields of a form that is sent to the address. Applications accept an item in either place.
    ///   - ignoringQuery: whether only the path has to fit.
    /// - Returns: the base, which ends in a slash; nil if there is none.
    func base(of reference: String, with fields: [HTMLEntry] = [], ignoringQuery: Bool = false) -> String? {
        if let absolute = SiteAddress(reference) {
            let fits = absolute.origin == origin && absolute.path == path
            return fits && (ignoringQuery || hasItems(absolute.items, fields)) ? "\(origin)/" : nil
        }
        var wanted = reference.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let query = reference.utf8[wanted.endIndex...].prefix { $0 != UInt8(ascii: "#") }.dropFirst()
        guard ignoringQuery || hasItems(query.split(separator: UInt8(ascii: "&")), fields) else { return nil }
        if wanted.starts(with: "./".utf8) { wanted = wanted.dropFirst(2) }
        if wanted.first == UInt8(ascii: "/") { return path.utf8.elementsEqual(wanted) ? "\(origin)/" : nil }
        let lead = path.utf8.dropLast(wanted.count)
        guard lead.last == UInt8(ascii: "/"), path.utf8[lead.endIndex...].elementsEqual(wanted) else { return nil }
        return "\(origin)\(Substring(lead))"
    }

    private func hasItems(_ wanted: [Substring.UTF8View], _ fields: [HTMLEntry]) -> Bool {
        let present = items.map { PercentEncoding.decoded($0) } + fields.map { Array("\($0.name)=\($0.value)".utf8) }
        return wanted.allSatisfy { present.contains(PercentEncoding.decoded($0)) }
    }
}

extension SiteAddress: CustomStringConvertible {
    var description: String { text }
}
