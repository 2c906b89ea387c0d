/// What one request carries through the chain: the request itself, with the author of every part, and which attempt it is.
public struct Exchange: Sendable {
    public var request: HTTPRequest
    public let options: TransferOptions
    /// 1 for the first sending.
    public let attempt: Int

    /// Records every change that `body` makes as `author`'s.
    public mutating func edit<Failure: Error>(
        as author: Author, _ body: (inout HTTPRequest) throws(Failure) -> Void
    ) throws(Failure) {
        let previous = request.author
        request.author = author
        defer { request.author = previous }
        try body(&request)
    }
}
