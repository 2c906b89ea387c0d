import Testing

@testable import NevodPluginChecks

@Suite struct ChildReplyTests {
    private static let finding = Finding(expected: "a rule", happened: "é \u{1F511}", fix: "")
    private static let replies: [ChildReply] = [
        .result(.pass), .result(.noted("3 ms")), .result(.skip("")), .result(.needsSettings("no key")), .result(.warn(finding)),
        .result(.fail(finding)), .refused("no such file"), .text(String(repeating: "a", count: 50)),
        .schemes([
            DescribedScheme(id: "a", settings: [DescribedScheme.Setting(name: "key", isSecret: true)]),
            DescribedScheme(id: "b", settings: []),
        ]),
    ]

    @Test(arguments: replies)
    func `A reply is read as it was written`(reply: ChildReply) throws {
        #expect(try ChildReply(decoding: reply.encoded) == reply)
    }

    @Test(arguments: replies)
    func `A reply that is cut, or has more bytes, is refused`(reply: ChildReply) {
        let bytes = reply.encoded
        for count in 0..<min(bytes.count, 200) {
            #expect(throws: FieldReader.Malformed.self) { try ChildReply(decoding: Array(bytes.prefix(count))) }
        }
        #expect(throws: FieldReader.Malformed.self) { try ChildReply(decoding: bytes + [0]) }
    }

    @Test func `A count without its elements allocates nothing`() {
        var writer = FieldWriter()
        writer.write(UInt32(0x4E56_4331))
        writer.write(UInt32(5))
        writer.write(UInt32.max)
        #expect(throws: FieldReader.Malformed.self) { try ChildReply(decoding: writer.bytes) }
    }

    @Test func `A text of a plugin that is too long is cut`() throws {
        let reply = ChildReply.result(.skip(String(repeating: "x", count: 1 << 20)))
        guard case .result(.skip(let text)) = try ChildReply(decoding: reply.encoded) else {
            Issue.record("another reply")
            return
        }
        #expect(text.count < 2000 && text.hasSuffix("x…"))
    }

    @Test func `A job is read as it was written`() throws {
        let job = CheckJob(
            check: "load.resolves", path: "/a b.so", scheme: "x", settings: [GivenSetting(name: "key", value: [0, 255])],
            seed: .max,
            fuzzSeconds: 3)
        #expect(try CheckJob(decoding: job.encoded) == job)
        for count in 0..<job.encoded.count {
            #expect(throws: FieldReader.Malformed.self) { try CheckJob(decoding: Array(job.encoded.prefix(count))) }
        }
    }
}
