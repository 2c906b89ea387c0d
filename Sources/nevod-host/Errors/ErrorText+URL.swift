import NevodHost

extension ErrorText {
    func hint(for error: InvalidRequestError) -> String {
        guard case .url(let url) = error.part else { return "" }
        if let first = url.first, Self.quotes.contains(first) { return "; remove the quotes around it" }
        if let last = url.last, Self.quotes.contains(last) { return "; remove the quote at its end" }
        if ["https://", "http://"].contains(where: url.lowercased().hasPrefix) {
            return url.dropFirst(8).contains("://") ? "; if these are two URLs, put a space between them" : ""
        }
        let scheme = url.prefix { $0 != ":" && $0 != "/" }
        if scheme.count < url.count, let near = Suggestions.nearest(to: String(scheme), among: ["https", "http"]).first {
            return "; did you mean \(near)://?"
        }
        return url.contains("://") ? "; write https:// or http://" : ""
    }

    private static let quotes: Set<Character> = ["\"", "'", "`", "\u{201C}", "\u{201D}", "\u{2018}", "\u{2019}"]
}
