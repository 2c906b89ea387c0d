internal import CCurl

/// A list of texts for libcurl, which borrows it as long as its handle exists.
final class CurlList {
    private(set) var first: UnsafeMutablePointer<curl_slist>?

    /// - Returns: nil if memory runs out.
    init?(_ texts: [String]) {
        for text in texts {
            guard let list = curl_slist_append(first, text) else { return nil }
            first = list
        }
    }

    deinit { curl_slist_free_all(first) }
}
