/// A token or an interceptor that is written against another library's request reads the body, and the body can't be shown to it.
/// Nothing was sent: a signature over nothing would be wrong without a word.
public struct UnshownBodyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The type that reads the body.
    public let reader: String
    /// The length of the body; nil if it is not known in advance.
    public let length: Int64?
    /// Whether the body can be read more than once.
    public let isReplayable: Bool

    public var description: String {
        let reason =
            isReplayable
            ? "it is longer than the \(ShownBody.limit >> 20) MiB that are held in memory for that" : "it can be read only once"
        let size = length.map { "of \($0) bytes" } ?? "of unknown length"
        return
            "the body, a stream \(size), can't be shown to \(reader): \(reason). If \(reader) doesn't read the body, declare its "
            + "readsBody as false; if it does, write it against HTTPRequest, or send the body from memory"
    }
}
