/// A child's message to its parent, through a pipe, once.
enum ChildReply: Sendable, Equatable {
    case result(CheckResult)
    case schemes([DescribedScheme])
    /// The host doesn't accept the plugin, for this reason.
    case refused(String)
    /// The output of `inspect`.
    case text(String)

    /// Begins each message. A plugin that writes to descriptors that it did not open could else be taken for the child.
    private static let mark: UInt32 = 0x4E56_4331
    /// A longer message is cut by the reader, and so malformed.
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
        default: throw FieldReader.Malformed()
        }
        guard reader.isAtEnd else { throw FieldReader.Malformed() }
    }

    private static func finding(_ reader: inout FieldReader) throws(FieldReader.Malformed) -> Finding {
        Finding(expected: try reader.text(), happened: try reader.text(), fix: try reader.text())
    }
}
