/// The work of one child process. The child reads it from an unnamed file, because settings may hold secrets and a command line is
/// public.
struct CheckJob: Sendable, Equatable {
    /// A check's id, or one of the words below.
    var check: String
    var path: String
    /// Empty for a check of the file or the library.
    var scheme: String
    var settings: [GivenSetting]
    var seed: UInt64
    var fuzzSeconds: UInt32

    /// Loads the plugin and reports its schemes.
    static let describe = "describe"
    /// Loads the plugin and reports the output of `inspect`, as text or as JSON.
    static let inspectText = "inspect"
    static let inspectJSON = "inspect-json"

    var encoded: [UInt8] {
        var writer = FieldWriter()
        writer.write(check)
        writer.write(path)
        writer.write(scheme)
        writer.write(settings) { setting, writer in
            writer.write(setting.name)
            writer.write(setting.value)
        }
        writer.write(seed)
        writer.write(fuzzSeconds)
        return writer.bytes
    }
}

extension CheckJob {
    init(decoding bytes: [UInt8]) throws(FieldReader.Malformed) {
        var reader = FieldReader(bytes)
        self.init(
            check: try reader.text(), path: try reader.text(), scheme: try reader.text(),
            settings: try reader.array { reader throws(FieldReader.Malformed) in
                GivenSetting(name: try reader.text(), value: try reader.data())
            },
            seed: try reader.uint64(), fuzzSeconds: try reader.uint32())
        guard reader.isAtEnd else { throw FieldReader.Malformed() }
    }
}

/// A child's only message to its parent, sent through a pipe.
enum ChildReply: Sendable, Equatable {
    case result(CheckResult)
    case schemes([DescribedScheme])
    /// The host doesn't accept the plugin, for this reason.
    case refused(String)
    /// The output of `inspect`.
    case text(String)

    /// Begins each message, so that output of a plugin that writes to foreign descriptors isn't mistaken for a message.
    private static let mark: UInt32 = 0x4E56_4331
    /// The reader cuts a longer message, which makes it malformed.
    static let longest = 128 << 20
    private static let longestText = 16 << 10

    var encoded: [UInt8] {
        var writer = FieldWriter()
        writer.write(Self.mark)
        switch self {
        case .result(.pass): writer.write(UInt32(0))
        case .result(.noted(let note)): Self.write(1, [note], &writer)
        case .result(.skip(let reason)): Self.write(2, [reason], &writer)
        case .result(.warn(let finding)): Self.write(3, [finding.expected, finding.happened, finding.fix], &writer)
        case .result(.fail(let finding)): Self.write(4, [finding.expected, finding.happened, finding.fix], &writer)
        case .schemes(let schemes):
            writer.write(UInt32(5))
            writer.write(schemes) { scheme, writer in
                writer.write(scheme.id)
                writer.write(scheme.settings) { setting, writer in
                    writer.write(setting.name)
                    writer.write(UInt32(setting.isSecret ? 1 : 0))
                }
            }
        case .refused(let reason): Self.write(6, [reason], &writer)
        case .text(let text):
            writer.write(UInt32(7))
            writer.write(text)
        case .result(.needsSettings(let reason)): Self.write(8, [reason], &writer)
        }
        return writer.bytes
    }

    private static func write(_ kind: UInt32, _ texts: [String], _ writer: inout FieldWriter) {
        writer.write(kind)
        for text in texts { writer.write(text.utf8.count <= longestText ? text : String(text.prefix(longestText / 16)) + "…") }
    }

    init(decoding bytes: [UInt8]) throws(FieldReader.Malformed) {
        var reader = FieldReader(bytes)
        guard try reader.uint32() == Self.mark else { throw FieldReader.Malformed() }
        switch try reader.uint32() {
        case 0: self = .result(.pass)
        case 1: self = .result(.noted(try reader.text()))
        case 2: self = .result(.skip(try reader.text()))
        case 3: self = .result(.warn(try Self.finding(&reader)))
        case 4: self = .result(.fail(try Self.finding(&reader)))
        case 5:
            self = .schemes(
                try reader.array { reader throws(FieldReader.Malformed) in
                    DescribedScheme(
                        id: try reader.text(),
                        settings: try reader.array { reader throws(FieldReader.Malformed) in
                            let name = try reader.text()
                            let flag = try reader.uint32()
                            guard flag <= 1 else { throw FieldReader.Malformed() }
                            return DescribedScheme.Setting(name: name, isSecret: flag == 1)
                        })
                })
        case 6: self = .refused(try reader.text())
        case 7: self = .text(try reader.text())
        case 8: self = .result(.needsSettings(try reader.text()))
        default: throw FieldReader.Malformed()
        }
        guard reader.isAtEnd else { throw FieldReader.Malformed() }
    }

    private static func finding(_ reader: inout FieldReader) throws(FieldReader.Malformed) -> Finding {
        Finding(expected: try reader.text(), happened: try reader.text(), fix: try reader.text())
    }
}

/// A scheme of a plugin, as reported by the child process that loaded it.
package struct DescribedScheme: Sendable, Equatable {
    package struct Setting: Sendable, Equatable {
        package let name: String
        package let isSecret: Bool
    }

    package let id: String
    package let settings: [Setting]
}

/// A value of `--set`.
package struct GivenSetting: Sendable, Equatable {
    package let name: String
    package let value: [UInt8]

    package init(name: String, value: [UInt8]) {
        self.name = name
        self.value = value
    }
}

/// Writes the messages between parent and child: numbers of 4 or 8 bytes, little-endian, and texts that follow their length in
/// bytes.
struct FieldWriter {
    private(set) var bytes: [UInt8] = []

    mutating func write(_ number: UInt32) { withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) } }
    mutating func write(_ number: UInt64) { withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) } }

    mutating func write(_ data: some Collection<UInt8>) {
        write(UInt32(clamping: data.count))
        bytes.append(contentsOf: data.prefix(Int(UInt32.max)))
    }

    mutating func write(_ text: String) { write(text.utf8) }

    mutating func write<Element>(_ elements: [Element], _ body: (Element, inout FieldWriter) -> Void) {
        write(UInt32(clamping: elements.count))
        for element in elements { body(element, &self) }
    }
}

/// Reads what a ``FieldWriter`` wrote. The bytes may come from a process that a plugin has corrupted, so no length in them is
/// trusted.
struct FieldReader {
    /// The bytes don't encode the expected value.
    struct Malformed: Error {}

    private let bytes: ArraySlice<UInt8>
    private var position: Int

    init(_ bytes: [UInt8]) {
        self.bytes = bytes[...]
        position = 0
    }

    var isAtEnd: Bool { position == bytes.endIndex }

    private mutating func take(_ count: Int) throws(Malformed) -> ArraySlice<UInt8> {
        guard count <= bytes.endIndex - position else { throw Malformed() }
        defer { position += count }
        return bytes[position..<position + count]
    }

    private mutating func number(_ count: Int) throws(Malformed) -> UInt64 {
        try take(count).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    mutating func uint32() throws(Malformed) -> UInt32 { UInt32(truncatingIfNeeded: try number(4)) }
    mutating func uint64() throws(Malformed) -> UInt64 { try number(8) }

    mutating func data() throws(Malformed) -> [UInt8] { Array(try take(Int(try uint32()))) }

    mutating func text() throws(Malformed) -> String {
        guard let text = String(validating: try take(Int(try uint32())), as: UTF8.self) else { throw Malformed() }
        return text
    }

    mutating func array<Element>(_ body: (inout FieldReader) throws(Malformed) -> Element) throws(Malformed) -> [Element] {
        let count = try uint32()
        // Each element has at least one number. A larger count would only fill the memory.
        guard Int(count) <= (bytes.endIndex - position) / 4 else { throw Malformed() }
        var elements: [Element] = []
        for _ in 0..<count { elements.append(try body(&self)) }
        return elements
    }
}
