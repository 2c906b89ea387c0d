import Testing

@testable import nevod_host

@Suite struct RecordStreamTests {
    private static func shown(_ kind: RecordStream.Kind, _ pieces: [String], inColour: Bool = false) -> String {
        var stream = RecordStream(kind, inColour: inColour)
        let bytes = pieces.flatMap { stream.format(Array($0.utf8)) } + stream.finish()
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(
        "The media types of streams",
        arguments: [
            ("application/x-ndjson", true), ("application/jsonl", true), ("application/json-seq", true),
            ("application/geo+json-seq", true), ("text/event-stream", true), ("application/json", false), ("text/plain", false),
            ("application/problem+json", false),
        ])
    func kinds(type: String, isStream: Bool) {
        #expect((RecordStream.Kind(mediaType: type) != nil) == isStream)
    }

    @Test("Records are shown as their lines end, however they are cut")
    func pieces() {
        let text = "{\"a\":[1,{}]}\r\n\n[]\nno \u{1B}\n{\"b\":2}"
        let expected = "{\"a\": [1, {}]}\n\n[]\nno \\u{1b}\n{\"b\": 2}\n"
        for size in 1...text.unicodeScalars.count {
            let scalars = Array(text.unicodeScalars)
            let pieces = stride(from: 0, to: scalars.count, by: size).map { start in
                String(String.UnicodeScalarView(scalars[start..<min(start + size, scalars.count)]))
            }
            #expect(Self.shown(.lines, pieces) == expected)
        }
    }

    @Test("A record is shown before the next one begins")
    func atOnce() {
        var stream = RecordStream(.lines, inColour: false)
        #expect(stream.format(Array("{\"a\":1".utf8)).isEmpty)
        #expect(stream.format(Array("}\n{".utf8)) == Array("{\"a\": 1}\n".utf8))
    }

    @Test("Record separators are not shown (RFC 7464)")
    func sequence() {
        #expect(Self.shown(.sequence, ["\u{1E}{\"a\":1}\n\u{1E}\u{1E}\"x\"\n"]) == "{\"a\": 1}\n\"x\"\n")
    }

    @Test(
        "Events end their lines with a line feed, a carriage return, or both",
        arguments: [
            (["data: {\"a\":1}\n\n"], "data: {\"a\": 1}\n\n"), (["data:{\"a\":1}\r", "\n\r\n"], "data: {\"a\": 1}\n\n"),
            (["id: 7\rdata: x\r\r"], "id: 7\ndata: x\n\n"), (["a\r", "", "\nb"], "a\nb\n"),
            ([": {\"a\":1}\ndata: 5"], ": {\"a\":1}\ndata: 5\n"),
        ])
    func events(pieces: [String], expected: String) {
        #expect(Self.shown(.events, pieces) == expected)
    }

    @Test("A line that is too long is shown as it comes")
    func longLine() {
        var stream = RecordStream(.lines, inColour: false)
        let long = [UInt8](repeating: UInt8(ascii: "a"), count: RecordStream.longestLine + 1)
        #expect(stream.format(long).count == long.count)
        #expect(stream.format(Array("b\n[]\n".utf8)) == Array("b\n[]\n".utf8))
    }
}
