import NevodSupport

@testable import CookieAuth
@testable import NevodHost
@testable import NevodPluginKit
@testable import nevod_host

extension Fuzzer {
    static let json = Fuzzer("json") { input in
        let bytes = input.array
        let value = try? JSONValue(parsing: bytes.span)
        if let value {
            let written = value.encoded
            let again = try? JSONValue(parsing: Array(written).span)
            expect(again == value && again?.encoded == written, "a value is read as it was written")
        }
        if let strict = try? JSONValue(parsing: bytes.span, repeatedNames: .refused) {
            expect(strict == value, "a value without repeated names is the same to both readers")
        }
        let shown = JSONFormatter(inColour: false).format(bytes)
        expect(value == nil || shown != nil, "a value is shown")
        guard let shown else { return }
        expect(
            String(decoding: shown, as: UTF8.self).unicodeScalars.allSatisfy { $0 == "\n" || !$0.isUnsafeAtTerminal },
            "what is shown controls no terminal")
        if let value {
            let again = try? JSONValue(parsing: shown.span, size: .max)
            expect(again == value, "what is shown is the same value")
        }
        _ = JSONFormatter(inColour: true).format(bytes)
    }

    /// A form, or a query.
    static let form = Fuzzer("form") { input in
        let form = FormFields(parsing: input.text)
        let written = form.encoded
        let again = FormFields(parsing: String(revealing: written))
        expect(again.encoded == written, "a form is read as it was written")
        expect(again.fields.count == form.fields.count, "fields are read as they were written")
        expect(
            written.withUnsafeBytes { $0.allSatisfy { $0 > 0x20 && $0 < 0x7F } }, "a form is printable ASCII without spaces")
    }

    /// A server's text on its way to a terminal.
    static let terminal = Fuzzer("terminal") { input in
        let safe = TerminalText.safe(input.bytes)
        expect(!safe.unicodeScalars.contains(where: \.isUnsafeAtTerminal), "safe text controls no terminal")
        expect(TerminalText.safe(safe) == safe, "safe text stays as it is")
    }

    /// A stream of documents or of events. The first two bytes choose the kind and the size of the pieces.
    static let records = Fuzzer("records") { input in
        var input = input
        let kinds: [RecordStream.Kind] = [.lines, .sequence, .events]
        let kind = kinds[Int(input.byte()) % kinds.count]
        let size = Int(input.byte()) + 1
        let bytes = input.array
        var whole = RecordStream(kind, inColour: false)
        let shown = whole.format(bytes) + whole.finish()
        var pieces = RecordStream(kind, inColour: false)
        var again: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            again += pieces.format(Array(bytes[start..<min(start + size, bytes.count)]))
        }
        again += pieces.finish()
        expect(again == shown, "pieces show the same as the whole")
        expect(
            String(decoding: shown, as: UTF8.self).unicodeScalars.allSatisfy {
                $0 == "\n" || $0 == "\t" || !$0.isUnsafeAtTerminal
            },
            "what is shown controls no terminal")
        var coloured = RecordStream(kind, inColour: true)
        _ = coloured.format(bytes) + coloured.finish()
    }
}

extension [UInt8] {
    init(_ secret: Secret) {
        self = secret.withUnsafeBytes { Array($0) }
    }
}
