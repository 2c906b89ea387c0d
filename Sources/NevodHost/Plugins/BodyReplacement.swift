/// The kind and length of a request's body: all that the checks of a replacement need.
struct BodyShape {
    let kind: Int32
    let length: Int64?

    init(_ body: HTTPBody) {
        kind = body.kind
        length = body.length
    }
}

/// The body that a scheme puts in place of a request's.
enum BodyReplacement {
    case bytes([UInt8])
    /// - Parameter length: the bytes that the scheme announced.
    case wrapping(BodyWrapping, length: Int64)

    /// - Parameter work: that of the request.
    func body(of original: HTTPBody, _ work: RequestWork?) -> HTTPBody {
        switch self {
        case .bytes([]): .none
        case .bytes(let bytes): .bytes(bytes)
        case .wrapping(let wrapping, let length): wrapping.body(of: original, length: length, work)
        }
    }
}
