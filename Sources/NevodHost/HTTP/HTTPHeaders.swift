/// Header lines, in order, as they go over the wire: nothing merged, nothing renamed, each with its author.
///
/// The bytes stand in one block, each line as the C string that libcurl takes, so that sending copies one block and a
/// signer reads what will really be sent.
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

    /// No lines.
    public init() {}

    mutating func reserveCapacity(bytes: Int, lines: Int) {
        storage.reserveCapacity(bytes)
        self.lines.reserveCapacity(lines)
    }

    /// Lines, not names: two Set-Cookie lines are two.
    public var count: Int { lines.count }
    /// Whether there is no line at all.
    public var isEmpty: Bool { lines.isEmpty }

    /// The value of the first line of that name.
    public subscript(name: String) -> String? {
        firstIndex(of: name).map { string(lines[$0].value) }
    }

    /// The values of all lines of that name, in order.
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

    /// Whether a line of that name is there, in any spelling of its letters' case (RFC 9110 §5.1).
    public func contains(_ name: String) -> Bool {
        firstIndex(of: name) != nil
    }

    func firstIndex(of name: String) -> Int? {
        var name = name
        return name.withUTF8 { index(of: $0, from: 0) }
    }

    /// The first line of that name from an index on.
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

    // MARK: Changing. Callers go through HTTPRequest, which checks and says who it is.

    mutating func add(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, by provenance: Provenance) {
        lines.append(write(name, HTTPSyntax.trimmed(value), by: provenance))
    }

    /// Host comes first (RFC 9110 §7.2).
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

    /// Replaces the first line of that name in its place and removes the others, or appends a line.
    mutating func set(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, by provenance: Provenance) {
        guard let first = index(of: name, from: 0) else { return add(name, value, by: provenance) }
        let value = HTTPSyntax.trimmed(value)
        if lines[first].valueCount == value.count, !value.isEmpty {
            // A signature renewed for the next attempt has the length of the last one.
            let (nameStart, valueStart) = (lines[first].name.lowerBound, lines[first].value.lowerBound)
            storage.withUnsafeMutableBufferPointer { storage in
                storage.baseAddress?.advanced(by: nameStart).update(from: name)
                storage.baseAddress?.advanced(by: valueStart).update(from: value)
            }
            lines[first].provenance = provenance
        } else {
            lines[first] = write(name, value, by: provenance)
        }
        removeLines(named: name, from: first + 1)
    }

    mutating func set(_ name: String, _ value: String, by provenance: Provenance) {
        withUTF8(name, value) { set($0, $1, by: provenance) }
    }

    mutating func remove(_ name: String) {
        var name = name
        name.withUTF8 { removeLines(named: $0, from: 0) }
    }

    mutating func removeAll(by provenance: (Provenance) -> Bool) {
        lines.removeAll { provenance($0.provenance) }
    }

    private mutating func removeLines(named name: UnsafeBufferPointer<UInt8>, from start: Int) {
        var next = start
        while let index = index(of: name, from: next) {
            lines.remove(at: index)
            next = index
        }
    }

    /// An obsolete line fold (RFC 9112 §5.2): the continuation, behind one space.
    mutating func continueLast(_ text: UnsafeBufferPointer<UInt8>) {
        guard let last = lines.popLast() else { return }
        let name = Array(storage[last.name])
        let value = Array(storage[last.value]) + [UInt8(ascii: " ")] + text
        name.withUnsafeBufferPointer { name in value.withUnsafeBufferPointer { add(name, $0, by: last.provenance) } }
    }

    private mutating func write(
        _ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, by provenance: Provenance
    ) -> Line {
        let line = Line(start: storage.count, nameCount: name.count, valueCount: value.count, provenance: provenance)
        storage.append(contentsOf: name)
        // libcurl's spelling of a line without a value; "Name:" would mean "leave this line out".
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
    /// A line, copied out for people and programs that want strings.
    public struct Element: Sendable, Hashable {
        /// As it goes over the wire, its letters' case kept.
        public let name: String
        /// Without the white space around it (RFC 9110 §5.5); bytes that are not UTF-8 are replaced.
        public let value: String
        /// Who wrote the line; meaningless in an answer.
        public let provenance: Provenance
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

/// Both strings' bytes at once.
func withUTF8<Result>(
    _ first: String, _ second: String,
    _ body: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Result
) -> Result {
    var first = first
    var second = second
    return first.withUTF8 { first in second.withUTF8 { body(first, $0) } }
}
