internal import CCurl
internal import NevodSupport

/// A list of texts that libcurl borrows until its handle is freed.
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

/// The `Proxy-Authorization` line, in memory that libcurl borrows during a transfer. Used only on the loop's thread.
final class CurlProxyHeader {
    private var text = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private let node = UnsafeMutablePointer<curl_slist>.allocate(capacity: 1)

    init() {
        node.initialize(to: curl_slist(data: nil, next: nil))
    }

    deinit {
        wipe()
        node.deallocate()
    }

    /// - Parameter value: the value of `Proxy-Authorization`.
    /// - Returns: the list for libcurl; nil if the value is nil.
    func replace(with value: String?) -> UnsafeMutablePointer<curl_slist>? {
        wipe()
        guard let value else { return nil }
        let line = "Proxy-Authorization: \(value)"
        text = .allocate(byteCount: line.utf8.count + 1, alignment: 1)
        text.copyBytes(from: line.utf8)
        text[line.utf8.count] = 0
        node.pointee.data = text.baseAddress?.assumingMemoryBound(to: CChar.self)
        return node
    }

    /// Wipes and frees the line; returns false if there was none.
    @discardableResult
    func wipe() -> Bool {
        guard text.baseAddress != nil else { return false }
        text.wipe()
        text.deallocate()
        text = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        return true
    }
}
