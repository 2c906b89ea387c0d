internal import NevodSupport

/// The names of the fields and `meta` elements for which a session's pages are read.
///
/// Most pages have none of them, and a search of the bytes costs a small part of reading a page.
struct PageNames: Sendable {
    /// The longest run of ASCII letters and digits in each name, in lower case: pages may write other characters as references.
    private let runs: [[UInt8]]

    init(_ names: [String]) {
        runs = names.map { name in
            let runs = name.utf8.split { !$0.isLetterOrDigit }
            let longest = runs.reduce(name.utf8[name.startIndex..<name.startIndex]) { $1.count > $0.count ? $1 : $0 }
            return longest.map { $0.asciiLowercased }
        }
    }

    /// Whether a page may have one of the names. True if a name has no letters and no digits.
    func mayBe(in page: Secret) -> Bool {
        page.withUnsafeBytes { bytes in
            let bytes = bytes.lazy.map { $0.asciiLowercased }
            return runs.contains { bytes.firstRange(ofBytes: $0) != nil }
        }
    }
}
