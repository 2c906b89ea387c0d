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

    /// Creates a dictionary. The last member of a repeated key counts.
    public init(dictionaryLiteral elements: (String, StructuredMember)...) {
        for (key, member) in elements { self[key] = member }
    }

    /// Reads a field that is a dictionary (RFC 9651 §4.2). A field without lines, or an empty one, is an empty dictionary; the last
    /// member of a repeated key counts.
    ///
    /// - Parameter lines: the values of the field's lines.
    /// - Returns: nil unless the whole field is well-formed: the caller must ignore a malformed field.
    public init?(parsing lines: [String]) {
        var parser = StructuredParser(lines)
        guard let entries = parser.whole({ $0.dictionary() }) else { return nil }
        self.entries = entries
    }

    /// A key's member. Set it to nil to remove the entry; an entry whose member is replaced keeps its place.
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

    /// The field's value (RFC 9651 §4.1). Empty for an empty dictionary, which isn't sent. Nil in the same cases as
    /// ``StructuredItem/text``.
    public var text: String? { StructuredWriter.text { $0.write(entries) } }
}

/// A structured field that is a list (RFC 9651 §3.1).
public struct StructuredList: Sendable, Equatable, ExpressibleByArrayLiteral {
    /// The members in order.
    public var members: [StructuredMember]

    /// Creates a list.
    public init(_ members: [StructuredMember] = []) {
        self.members = members
    }

    public init(arrayLiteral members: StructuredMember...) {
        self.members = members
    }

    /// Reads a field that is a list (RFC 9651 §4.2). A field without lines, or an empty one, is an empty list.
    ///
    /// - Parameter lines: the values of the field's lines.
    /// - Returns: nil unless the whole field is well-formed: the caller must ignore a malformed field.
    public init?(parsing lines: [String]) {
        var parser = StructuredParser(lines)
        guard let members = parser.whole({ $0.list() }) else { return nil }
        self.members = members
    }

    /// The field's value (RFC 9651 §4.1). Empty for an empty list, which isn't sent. Nil in the same cases as
    /// ``StructuredItem/text``.
    public var text: String? { StructuredWriter.text { $0.write(members) } }
}

/// A member of a structured list or dictionary (RFC 9651 §3.1).
public enum StructuredMember: Sendable, Equatable {
    /// A single item.
    case item(StructuredItem)
    /// Items in parentheses: `("@method" "@path");created=1`.
    case innerList([StructuredItem], StructuredParameters)

    /// The item, if the member is one.
    public var item: StructuredItem? { if case .item(let item) = self { item } else { nil } }

    /// The items of an inner list; nil for a single item.
    public var items: [StructuredItem]? { if case .innerList(let items, _) = self { items } else { nil } }

    /// The parameters of the item or of the inner list.
    public var parameters: StructuredParameters {
        switch self {
        case .item(let item): item.parameters
        case .innerList(_, let parameters): parameters
        }
    }

    /// The member alone, as a signature base has it (RFC 9421 §2.3). Nil in the same cases as ``StructuredItem/text``.
    public var text: String? { StructuredWriter.text { $0.write(self) } }
}

/// An item of a structured field (RFC 9651 §3.3): a value with parameters, such as `"text";a=1`.
///
/// ```swift
/// let item = StructuredItem(parsing: response.headers(named: "Accept-Signature"))
/// ```
public struct StructuredItem: Sendable, Equatable {
    /// The bare item.
    public var value: StructuredValue
    /// Its parameters.
    public var parameters: StructuredParameters

    /// Creates an item.
    public init(_ value: StructuredValue, _ parameters: StructuredParameters = [:]) {
        self.value = value
        self.parameters = parameters
    }

    /// Reads a field that is an item (RFC 9651 §4.2).
    ///
    /// - Parameter lines: the values of the field's lines.
    /// - Returns: nil unless the whole field is well-formed: the caller must ignore a malformed field.
    public init?(parsing lines: [String]) {
        var parser = StructuredParser(lines)
        guard let item = parser.whole({ $0.item() }) else { return nil }
        self = item
    }

    /// The field's value (RFC 9651 §4.1); nil if a number is too long, or a text has characters that its kind doesn't allow.
    public var text: String? { StructuredWriter.text { $0.write(self) } }
}

/// A bare item of a structured field (RFC 9651 §3.3).
public enum StructuredValue: Sendable, Equatable {
    /// A number of at most 15 digits.
    case integer(Int64)
    /// A number with three decimal places, counted in thousandths: 1.5 is 1500. At most 15 digits.
    case decimal(thousandths: Int64)
    /// Printable ASCII.
    case string(String)
    /// A word without quotes: `gzip`, `text/html`.
    case token(String)
    /// Bytes, which are written in base64.
    case bytes([UInt8])
    /// `?1` or `?0`; as the value of a parameter or in a dictionary, true is not written.
    case bool(Bool)
    /// Seconds since 1970 UTC, of at most 15 digits.
    case date(Int64)
    /// Any text, percent-encoded.
    case displayString(String)
}

/// The parameters of an item or of an inner list (RFC 9651 §3.1.2), in order.
public struct StructuredParameters: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    /// A parameter.
    public struct Parameter: Sendable, Equatable {
        /// In lower case: `a-z`, digits and `_-.*`, beginning with a letter or `*`.
        public var key: String
        /// The parameter's value; true if it was written without one.
        public var value: StructuredValue
    }

    /// The parameters in order, with distinct keys.
    public internal(set) var parameters: [Parameter] = []

    /// Creates parameters. The last value of a repeated key counts.
    public init(dictionaryLiteral elements: (String, StructuredValue)...) {
        for (key, value) in elements { self[key] = value }
    }

    /// A parameter's value. Set it to nil to remove the parameter; a parameter whose value is replaced keeps its place.
    public subscript(key: String) -> StructuredValue? {
        get { parameters.first { $0.key == key }?.value }
        set {
            let place = parameters.firstIndex { $0.key == key }
            switch (place, newValue) {
            case (let place?, let value?): parameters[place].value = value
            case (let place?, nil): parameters.remove(at: place)
            case (nil, let value?): parameters.append(Parameter(key: key, value: value))
            case (nil, nil): break
            }
        }
    }
}
