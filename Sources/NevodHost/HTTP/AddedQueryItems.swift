internal import NevodSupport

// Each token and scheme has one item of a name in the query, however often it authorizes the request: its new item replaces its own
// old one. The caller's items stay as they are.
extension HTTPRequest {
    /// Appends `name=value` to the query, percent-encoded. The existing query stays byte for byte, with one exception: a token or
    /// plugin replaces its own item of this name, so that a request that is authorized again carries the credential once.
    public mutating func appendQueryItem(_ name: some Sequence<UInt8>, _ value: some Sequence<UInt8>) {
        appendEncodedQueryItem(PercentEncoding.queryItem(name) + [UInt8(ascii: "=")] + PercentEncoding.queryItem(value))
    }

    /// Removes the items of this name that the current writer has added.
    mutating func removeOwnQueryItems(_ name: some Sequence<UInt8>) {
        guard !addedQueryItems.isEmpty else { return }
        let item = PercentEncoding.queryItem(name)
        while removeQueryItem(namedLike: item) {}
    }

    /// Appends `name=value` to the query, percent-encoded. Keeps other items of this name.
    mutating func addQueryItem(_ name: some Sequence<UInt8>, _ value: some Sequence<UInt8>) {
        add(queryItem: PercentEncoding.queryItem(name) + [UInt8(ascii: "=")] + PercentEncoding.queryItem(value))
    }

    /// Appends an item that is already percent-encoded, or has no value.
    package mutating func appendEncodedQueryItem(_ item: [UInt8]) {
        removeQueryItem(namedLike: item)
        add(queryItem: item)
    }

    private mutating func add(queryItem item: [UInt8]) {
        var bytes = Array(target.utf8)
        bytes.append(bytes.contains(UInt8(ascii: "?")) ? UInt8(ascii: "&") : UInt8(ascii: "?"))
        let start = bytes.count
        bytes += item
        target = String(decoding: bytes, as: UTF8.self)
        if provenance != .caller { addedQueryItems.append((start..<bytes.count, provenance)) }
    }

    /// Appends text to the query unchanged, except that characters that RFC 3986 forbids there are percent-encoded.
    public mutating func appendQuery(_ text: [UInt8]) throws(InvalidRequestError) {
        let separator = target.utf8.contains(UInt8(ascii: "?")) ? "&" : "?"
        let bytes =
            Array("\(origin)\(target)\(separator)".utf8) + text.flatMap { $0 == UInt8(ascii: "#") ? Array("%23".utf8) : [$0] }
        target = try HTTPURL(String(decoding: bytes, as: UTF8.self)).target
    }

    /// Removes the current writer's first item with the name of `item`.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    private mutating func removeQueryItem(namedLike item: [UInt8]) -> Bool {
        func name(_ item: ArraySlice<UInt8>) -> ArraySlice<UInt8> { item.prefix { $0 != UInt8(ascii: "=") } }
        let bytes = Array(target.utf8)
        guard provenance != .caller,
            let old = addedQueryItems.firstIndex(where: {
                $0.provenance == provenance && name(bytes[$0.range]) == name(item[...])
            })
        else { return false }
        removeAddedQueryItem(at: old)
        return true
    }

    /// Removes an item and the separator before it, or, for the first item, the separator after it.
    mutating func removeAddedQueryItem(at index: Int) {
        var bytes = Array(target.utf8)
        let item = addedQueryItems.remove(at: index).range
        let isFirst = bytes[item.lowerBound - 1] == UInt8(ascii: "?")
        let hasNext = item.upperBound < bytes.count
        let removed = isFirst && hasNext ? item.lowerBound..<item.upperBound + 1 : item.lowerBound - 1..<item.upperBound
        bytes.removeSubrange(removed)
        for other in addedQueryItems.indices where addedQueryItems[other].range.lowerBound > removed.lowerBound {
            let range = addedQueryItems[other].range
            addedQueryItems[other].range = range.lowerBound - removed.count..<range.upperBound - removed.count
        }
        target = String(decoding: bytes, as: UTF8.self)
    }
}
