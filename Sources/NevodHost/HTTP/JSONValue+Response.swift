internal import NevodSupport

extension JSONValue {
    /// Parses the JSON of a server's response. Invalid UTF-8 is replaced, since some servers send Latin-1 in descriptions, and a
    /// byte order mark is skipped (RFC 8259 §8.1).
    ///
    /// Repeated names are refused: two readers of one response could each take another value.
    init(response body: [UInt8]) throws(JSONError) {
        let text = String(decoding: body.starts(with: [0xEF, 0xBB, 0xBF]) ? body[3...] : body[...], as: UTF8.self)
        try self.init(parsing: Array(text.utf8).span, repeatedNames: .refused)
    }
}
