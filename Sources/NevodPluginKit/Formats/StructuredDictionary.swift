/// A structured field that is a dictionary (RFC 9651 §3.2), such as `Signature-Input` (RFC 9421) and `Content-Digest` (RFC 9530).
///
/// ```swift
/// guard let digests = StructuredDictionary(parsing: response.headers(named: "Content-Digest")),
///     case .bytes(let sha256)? = digests["sha-256"]?.item?.value
/// else { … }
/// ```
public struct StructuredDictionary: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    /// A key and its member.
    public struct Entry: Sendable, Equatable {
        /// In lower case: `a-z`, digits and `_-.*`, beginning with a letter or `*`.
        public var key: String
        /// The member; for a key without a value, the item true.
        public var member: StructuredMember
    }

    /// The entries in order, with distinct keys.
    public internal(set) var entries: [Entry] = []

    /// Creates a dictionary, in which the last member of a key counts.
    public init(dictionaryLiteral elements: (String, StructuredMember)...) {
        for (key, member) in elements { self[key] = member }
    }

    /// Reads a field that is a dictionary (RFC 9651 §4.2). A field without lines, or an empty one, is an empty dictionary; the last
    /// member of a repeated key counts.
    ///
    /// - Parameter lines: the values of the field's lines.
    /// - Returns: nil unless the whole field has the form: a field with a fault is to be ignored.
    public init?(parsing lines: [String]) {
        var parser = StructuredParser(lines)
        guard let entries = parser.whole({ $0.dictionary() }) else { return nil }
        self.entries = entries
    }

    /// A key's member; nil removes it. A replaced one keeps its place.
    public subscript(key: String) -> StructuredMember? {
        get { entries.first { $0.key == key }?.member }
        set {
            let place = entries.firstIndex { $0.key == key }
            switch (place, newValue) {
            case (let place?, let member?): entries[place].member = member
            case (let place?, nil): entries.remove(at: place)
            case (nil, let member?): entries.append(Entry(key: key, member: member))
            case (nil, nil): break
            }
        }
    }

    /// The field's value (RFC 9651 §4.1), empty for an empty dictionary, which isn't sent; nil as for ``StructuredItem/text``.
    public var text: String? { StructuredWriter.text { $0.write(entries) } }
}
