import NevodTestSupport
import Testing

@testable import NevodHost

/// Tests the format in which a file keeps a response.
struct StoredHeadTests {
    private func response(_ lines: [(String, String)]) -> StoredResponse {
        var headers = HTTPHeaders()
        for (name, value) in lines { headers.add(name, value, by: .host) }
        let time = UnixTime(seconds: 1_800_000_000)
        let response = HTTPResponse(version: .http2, status: 203, reason: "Gr\u{fc}n", headers: headers, body: .bytes([]))
        return StoredResponse(response, body: [1, 2], requestedAt: time, receivedAt: UnixTime(nanoseconds: time.nanoseconds + 7))
    }

    private func head() throws -> StoredHead {
        let lines = [
            ("Vary", "A, B"), ("X-Empty", ""), ("X-Twice", "1"), ("X-Twice", "2"), ("Age", "5"), ("Cache-Control", "max-age=60"),
        ]
        var request = try HTTPRequest(.get, "http://h/")
        try request.setHeader("A", "1")
        let response = response(lines)
        return StoredHead(response, try #require(VaryKey(of: response.headers, for: request, .ofProcess)))
    }

    @Test func `A head is read as it was written`() throws {
        let head = try head()
        let read = try #require(StoredHead(head.encoded))
        #expect(read.encoded == head.encoded)
        #expect(read.vary == head.vary)
        #expect(Array(read.headers) == Array(head.headers))
        let (old, new) = (response([("Age", "5")]), read.response([1, 2]))
        #expect((new.version, new.status, new.reason) == (.http2, 203, "Gr\u{fc}n"))
        #expect((new.receivedAt, new.requestedAt, new.initialAge) == (old.receivedAt, old.requestedAt, old.initialAge))
        #expect(new.statedLifetime == .seconds(60) && new.body == [1, 2])
    }

    @Test func `Bytes that aren't valid UTF-8 are kept`() throws {
        var headers = HTTPHeaders()
        let bytes: [UInt8] = [0x61, 0xFC, 0x62]
        bytes.withUnsafeBufferPointer { value in Array("X".utf8).withUnsafeBufferPointer { headers.add($0, value, by: .host) } }
        let time = UnixTime(seconds: 0)
        let stored = StoredResponse(
            HTTPResponse(version: .http11, status: 200, reason: "", headers: headers, body: .bytes([])), body: [],
            requestedAt: time, receivedAt: time)
        let read = try #require(StoredHead(StoredHead(stored, VaryKey(names: [], values: .empty)).encoded))
        #expect(read.headers.bytes(of: "X").map(Array.init) == bytes)
    }

    @Test func `Bytes of another form are refused`() throws {
        let bytes = try head().encoded
        for count in 0..<bytes.count { #expect(StoredHead(Array(bytes[..<count])) == nil, "\(count)") }
        #expect(StoredHead(bytes + [0]) == nil)
        #expect(StoredHead([2] + bytes.dropFirst()) == nil)
        var random = SeededRandom(seed: 5)
        for _ in 0..<2000 {
            var changed = bytes
            changed[.random(in: bytes.indices, using: &random)] = .random(in: 0 ... .max, using: &random)
            if let read = StoredHead(changed) { #expect(read.encoded.count <= changed.count + 64) }
        }
        // Claims more names than fit in memory.
        var many = bytes
        many.replaceSubrange(61..<65, with: [255, 255, 255, 255])
        #expect(bytes[61..<65] == [0, 0, 0, 2] && StoredHead(many) == nil)
    }
}
