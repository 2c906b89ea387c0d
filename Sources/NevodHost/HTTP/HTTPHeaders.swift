/// Header lines in wire order: nothing is merged or renamed, and each line keeps its ``Provenance``.
///
/// All lines share one block of bytes, each stored as the C string that libcurl takes. Sending copies one block, and a signer
/// reads exactly what will be sent.
public struct HTTPHeaders: Sendable {
    struct Line: Sendable {
        var start: Int
        var nameCount: Int
        var valueCount: Int
        var provenance: Provenance

        var name: Range<Int> { start..<start + nameCount }
        var value: Range<Int> { start + nameCount + 2..<start + nameCount + 2 + valueCount }
    }

    private(set) var storage: [UInt8] = []
    private(set) var lines: [Line] = []

    /// Creates an empty list.
    public init() {}

    mutating func reserveCapacity(bytes: Int, lines: Int) {
        storage.reserveCapacity(bytes)
        self.lines.reserveCapacity(lines)
    }

    /// The number of lines, not of distinct names: two Set-Cookie lines count as two.
    public var count: Int { lines.count }

    /// Whether the line at an index has this name, ignoring ASCII case.
    func isLine(_ index: Int, named name: StaticString) -> Bool {
        guard index < lines.count, lines[index].nameCount == name.utf8CodeUnitCount else { return false }
        let start = lines[index].start
        return storage.withUnsafeBufferPointer { storage in
            let known = UnsafeBufferPointer(start: storage.baseAddress?.advanced(by: start), count: name.utf8CodeUnitCount)
            return HTTPSyntax.namesEqual(known, UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        }
    }

    /// Whether there are no lines.
    public var isEmpty: Bool { lines.isEmpty }

    /// The value of the first line with this name.
    public subscript(name: String) -> String? {
        firstIndex(of: name).map { string(lines[$0].value) }
    }

    /// The value of the first line with this name, as received.
    func bytes(of name: String) -> ArraySlice<UInt8>? {
        firstIndex(of: name).map { lines[$0].valueCount == 0 ? [] : storage[lines[$0].value] }
    }

    /// Returns the values of all lines with this name, in order.
    public func values(of name: String) -> [String] {
        var values: [String] = []
        var next = firstIndex(of: name)
        var name = name
        while let index = next {
            values.append(string(lines[index].value))
            next = name.withUTF8 { self.index(of: $0, from: index + 1) }
        }
        return values
    }

    /// Whether a line has this name, ignoring ASCII case (RFC 9110 §5.1).
    public func contains(_ name: String) -> Bool {
        firstIndex(of: name) != nil
    }

    func firstIndex(of name: String) -> Int? {
        var name = name
        return name.withUTF8 { index(of: $0, from: 0) }
    }

    /// Returns the first line with this name at or after an index.
    private func index(of name: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        storage.withUnsafeBufferPointer { storage in
            lines.withUnsafeBufferPointer { lines in
                var index = start
                while index < lines.count {
                    if lines[index].nameCount == name.count,
                        HTTPSyntax.namesEqual(UnsafeBufferPointer(rebasing: storage[lines[index].name]), name)
                    {
                        return index
                    }
                    index += 1
                }
                return nil
            }
        }
    }

    private func string(_ range: Range<Int>) -> String {
        storage.withUnsafeBufferPointer { String(decoding: UnsafeBufferPointer(rebasing: $0[range]), as: UTF8.self) }
    }

    // MARK: Changes. Callers go through HTTPRequest, which validates the line and passes its provenance.

    mutating func add(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, by provenance: Provenance) {
        lines.append(write(name, HTTPSyntax.trimmed(value), by: provenance))
    }

    /// Inserts a line at the front, where Host belongs (RFC 9110 §7.2).
    mutating func addFirst(_ name: String, _ value: String, by provenance: Provenance) {
        let line = withUTF8(name, value) { write($0, $1, by: provenance) }
        lines.insert(line, at: 0)
    }

    mutating func moveToFront(_ index: Int) {
        if index > 0 { lines.insert(lines.remove(at: index), at: 0) }
    }

    package mutating func add(_ name: String, _ value: String, by provenance: Provenance) {
        withUTF8(name, value) { add($0, $1, by: provenance) }
    }

    /// Replaces the first line with this name in place and removes the others, or appends a line.
    mutating func set(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, by provenance: Provenance) {
        let (found, isRepeated) = place(of: name)
        guard let first = found else { return add(name, value, by: provenance) }
        let value = HTTPSyntax.trimmed(value)
        let line = lines[first]
        if line.valueCount == value.count, !value.isEmpty {
            // Overwrites a value of the same length in place: the signature of a retry is as long as the previous one.
            storage.withUnsafeMutableBufferPointer { storage in
                storage.baseAddress?.advanced(by: line.start).update(from: name)
                storage.baseAddress?.advanced(by: line.start + line.nameCount + 2).update(from: value)
            }
            lines[first].provenance = provenance
        } else {
            lines[first] = write(name, value, by: provenance)
        }
        if isRepeated { removeLines(named: name, from: first + 1) }
    }

    /// Returns the first line with this name, and whether there is another.
    private func place(of name: UnsafeBufferPointer<UInt8>) -> (first: Int?, isRepeated: Bool) {
        storage.withUnsafeBufferPointer { storage in
            lines.withUnsafeBufferPointer { lines in
                var first: Int?
                for index in 0..<lines.count where lines[index].nameCount == name.count {
                    let known = UnsafeBufferPointer(
                        start: storage.baseAddress?.advanced(by: lines[index].start), count: name.count)
                    guard HTTPSyntax.namesEqual(known, name) else { continue }
                    if first != nil { return (first, true) }
                    first = index
                }
                return (first, false)
            }
        }
    }

    mutating func set(_ name: String, _ value: String, by provenance: Provenance) {
        withUTF8(name, value) { set($0, $1, by: provenance) }
    }

    mutating func remove(_ name: String) {
        var name = name
        name.withUTF8 { removeLines(named: $0, from: 0) }
    }

    mutating func removeAll(where isRemoved: (Provenance) -> Bool) {
        lines.removeAll { isRemoved($0.provenance) }
    }

    /// Removes the lines whose names meet a condition.
    mutating func removeNames(where isRemoved: (ArraySlice<UInt8>) -> Bool) {
        let storage = storage
        lines.removeAll { isRemoved(storage[$0.name]) }
    }

    private mutating func removeLines(named name: UnsafeBufferPointer<UInt8>, from start: Int) {
        guard var kept = index(of: name, from: start) else { return }
        // Moves each line only once, because a server can send thousands of lines with one name.
        storage.withUnsafeBufferPointer { storage in
            for index in kept + 1..<lines.count
            where !HTTPSyntax.namesEqual(UnsafeBufferPointer(rebasing: storage[lines[index].name]), name) {
                lines[kept] = lines[index]
                kept += 1
            }
        }
        lines.removeSubrange(kept...)
    }

    /// Appends the continuation of an obsolete line fold to the last line, after one space (RFC 9112 §5.2).
    mutating func continueLast(_ text: UnsafeBufferPointer<UInt8>) {
        guard let last = lines.indices.last, !text.isEmpty else { return }
        let line = lines[last]
        guard line.valueCount > 0, line.value.upperBound == storage.count - 1 else {
            lines.removeLast()
            let (name, value) = (Array(storage[line.name]), line.valueCount > 0 ? Array(storage[line.value]) + [0x20] : [])
            name.withUnsafeBufferPointer { name in
                (value + text).withUnsafeBufferPointer { add(name, $0, by: line.provenance) }
            }
            return
        }
        // The line is at the end of the block, so it grows in place: a server can fold one line ten thousand times.
        storage[storage.count - 1] = UInt8(ascii: " ")
        storage.append(contentsOf: text)
        storage.append(0)
        lines[last].valueCount += 1 + text.count
    }

    private mutating func write(
        _ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, by provenance: Provenance
    ) -> Line {
        let line = Line(start: storage.count, nameCount: name.count, valueCount: value.count, provenance: provenance)
        storage.append(contentsOf: name)
        // libcurl sends "Name;" as a line without a value; "Name:" would drop the line.
        if value.isEmpty {
            storage.append(UInt8(ascii: ";"))
        } else {
            storage.append(UInt8(ascii: ":"))
            storage.append(UInt8(ascii: " "))
            storage.append(contentsOf: value)
        }
        storage.append(0)
        return line
    }
}

extension HTTPHeaders: Sequence {
    /// A header line as strings.
    public struct Element: Sendable, Hashable {
        /// The name as sent or received, its case kept.
        public let name: String
        /// The value without surrounding white space (RFC 9110 §5.5); invalid UTF-8 is replaced.
        public let value: String
        /// The writer of the line; meaningless in a response.
        public let provenance: Provenance

        @available(*, deprecated, renamed: "provenance")
        public var author: Provenance { provenance }
    }

    public func makeIterator() -> AnyIterator<Element> {
        var rest = lines.makeIterator()
        return AnyIterator {
            rest.next().map { Element(name: string($0.name), value: string($0.value), provenance: $0.provenance) }
        }
    }
}

extension UnsafeMutablePointer<UInt8> {
    fileprivate func update(from bytes: UnsafeBufferPointer<UInt8>) {
        guard let source = bytes.baseAddress else { return }
        update(from: source, count: bytes.count)
    }
}

/// Passes the UTF-8 bytes of two strings to a closure.
func withUTF8<Result>(
    _ first: String, _ second: String,
    _ body: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Result
) -> Result {
    var first = first
    var second = second
    return first.withUTF8 { first in second.withUTF8 { body(first, $0) } }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
    /// Creates lines in the order of the fields, for the responses of your own transport:
    /// `try HTTPHeaders([("Retry-After", "1"), ("Set-Cookie", "a=1")])`.
    ///
    /// - Parameter fields: names and values. A name may occur several times.
    /// - Throws: ``InvalidRequestError`` for a name that is not a token (RFC 9110 §5.6.2), or a value with a control character
    ///   (§5.5).
    public init(_ fields: some Sequence<(String, String)>) throws(InvalidRequestError) {
        self.init()
        for (name, value) in fields {
            try Self.check(name, value)
            add(name, value, by: .caller)
        }
    }

    /// Creates lines in the order of the literal: `["Retry-After": "1"]`. A name may occur several times.
    ///
    /// A literal can't throw, so it leaves out fields that `init(_:)` refuses. Use that initializer for fields from outside.
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init()
        for (name, value) in elements where (try? Self.check(name, value)) != nil { add(name, value, by: .caller) }
    }

    static func check(_ name: String, _ value: String) throws(InvalidRequestError) {
        guard HTTPSyntax.isToken(name) else {
            throw InvalidRequestError(.header(name), "the name is not a token (RFC 9110 §5.6.2)")
        }
        guard HTTPSyntax.isFieldValue(value) else {
            throw InvalidRequestError(.header(name), "the value contains a control character, such as a line break")
        }
    }
}
