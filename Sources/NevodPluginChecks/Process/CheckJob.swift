/// The work of one child process, which it reads from a file without a name: settings may hold secrets, and a command line is public.
struct CheckJob: Sendable, Equatable {
    /// A check's id, or one of the words below.
    var check: String
    var path: String
    /// Empty for a check of the file or the library.
    var scheme: String
    var settings: [GivenSetting]
    var seed: UInt64
    var fuzzSeconds: UInt32

    /// Loads the plugin and tells its schemes.
    static let describe = "describe"
    /// Loads the plugin and tells what `inspect` prints, as text or as JSON.
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
