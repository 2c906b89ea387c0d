internal import NevodPluginKit
internal import NevodSupport

// Each request is checked: it is refused if the server could read it differently from how it was signed. Whether decoded bytes
// would forge a line is decided in ForgedLines.swift.

extension Signer {
    /// The error for a signed value that the request lacks.
    func absent(_ kind: String, _ name: Range<Int>) -> SchemeError {
        let text = recipe.text(name)
        return .unsupported(
            "the request has no \(kind) \(text), which is signed; add it, or write {\(kind):\(text)?} if it may be absent")
    }

    /// The error for a repeated value: the server might use the one that isn't signed.
    func repeated(_ kind: String, _ name: Range<Int>) -> SchemeError {
        .unsupported("the request's \(kind) has \(recipe.text(name)) more than once, but only one of them would be signed")
    }

    /// Refuses a query that already has an item of that name, because the server would see two, and might use the caller's.
    func refuseItem(_ name: [UInt8], of request: borrowing RequestView) throws(SchemeError) {
        let query = request.query
        var items = QueryItems(query)
        while let item = items.next() {
            guard QueryItems.decodes(query.extracting(item.start..<item.nameEnd), to: name[...]) else { continue }
            throw .unsupported(
                "the request's query already has an item \(String(decoding: name, as: UTF8.self)); leave it to the scheme")
        }
    }

    /// Refuses a body that can't be read before it is sent. Its SHA-2 digests are available even then.
    func refuseStream(_ request: borrowing RequestView) throws(SchemeError) {
        guard request.hasStreamedBody else { return }
        throw .unsupported(
            "{body} can't sign a body that is a stream; send it from memory, or sign its SHA-256, SHA-384 or SHA-512")
    }

    /// Refuses a value that isn't text, such as a digest that the recipe forgot to encode. A header can't carry it.
    func refuseRawBytes(_ value: Span<UInt8>, _ step: Int) throws(SchemeError) {
        guard value.indices.contains(where: { value[$0] >= 0x80 }) else { return }
        var bytes: [UInt8] = []
        bytes.append(value)
        guard String(validating: bytes, as: UTF8.self) == nil else { return }
        let name = String(decoding: names[step], as: UTF8.self)
        throw .unsupported("\(name) would hold bytes that aren't text; add a filter to the recipe, such as hex")
    }
}

extension RequestView {
    /// The largest text that a recipe may make of the request, in bytes.
    var most: Int { (1 << 20) + 8 * (body.count + target.count) }
}

extension Filter {
    /// Limits memory, because a recipe's steps may multiply their input.
    static func limit(_ count: Int, _ most: Int) throws(SchemeError) {
        guard count <= most else { throw .unsupported("the recipe makes more than \(most) bytes from this request") }
    }
}
