package import NevodSupport

extension JSONValue {
    /// Parses the JSON of a server's response. A byte order mark is skipped (RFC 8259 §8.1). Repeated names are refused: two readers
    /// of one response could each take another value.
    package init(response body: [UInt8]) throws(JSONError) {
        let content = body.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(body[3...]) : body
        try self.init(parsing: content.span, repeatedNames: .refused)
    }
}
