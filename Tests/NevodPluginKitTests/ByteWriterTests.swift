import NevodPluginKit
import Testing

struct ByteWriterTests {
    private func written(capacity: Int, _ body: (inout ByteWriter) -> Void) -> String {
        withByteWriter(capacity: capacity) { writer in
            body(&writer)
            let bytes = writer.bytes
            return String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
        }
    }

    @Test(arguments: [0, 1, -1, 9, 10, -10, 1_767_225_600, Int64.max, Int64.min])
    func `Decimal digits are written`(value: Int64) {
        #expect(written(capacity: 20) { $0.append(decimal: value) } == String(value))
    }

    @Test func `Every byte is written as two hexadecimal digits`() {
        let bytes = Array(UInt8.min...UInt8.max)
        let expected = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(written(capacity: 512) { $0.append(hex: bytes.span) } == expected)
    }

    @Test func `Pieces are written one after the other`() {
        let text = written(capacity: 10) { writer in
            writer.append(ascii: "ab")
            writer.append(Array("cd".utf8).span)
            writer.append([UInt8]().span)
            writer.append(ascii: "")
            writer.append(decimal: -12)
            writer.append(hex: [0xFE].span)
        }
        #expect(text == "abcd-12fe")
    }

    @Test func `A writer may be full, or empty`() {
        #expect(written(capacity: 3) { $0.append(ascii: "abc") } == "abc")
        #expect(written(capacity: 0) { $0.append(ascii: "") } == "")
        #expect(withByteWriter(capacity: 4) { writer in writer.count } == 0)
    }

    @Test func `A message longer than its capacity is whole`() {
        #expect(written(capacity: 2) { $0.append(ascii: "abc") } == "abc")
        #expect(written(capacity: 3) { $0.append(hex: [1, 2].span) } == "0102")
        #expect(written(capacity: 19) { $0.append(decimal: .min) } == String(Int64.min))
        #expect(written(capacity: -1) { $0.append(ascii: "a") } == "a")
        let piece = Array("0123456789".utf8)
        let text = written(capacity: 5) { writer in
            for _ in 0..<100 { writer.append(piece.span) }
            writer.append(copying: 995..<2000)
            writer.append(base64: piece.span)
        }
        #expect(text == String(repeating: "0123456789", count: 100) + "56789" + "MDEyMzQ1Njc4OQ==")
    }

    @Test func `A copy beyond what has been written is cut`() {
        let text = written(capacity: 8) { writer in
            writer.append(ascii: "ab")
            writer.append(copying: 1..<9)
            writer.append(copying: 7..<9)
        }
        #expect(text == "abb")
    }

    @Test func `Bytes at the end are forgotten, and others take their place`() {
        let text = written(capacity: 4) { writer in
            writer.append(ascii: "abcdef")
            writer.removeLast(2)
            writer.removeLast(0)
            writer.removeLast(-1)
            writer.append(ascii: "g")
            writer.append(copying: 4..<6)
        }
        #expect(text == "abcdgg")
        #expect(
            written(capacity: 8) {
                $0.append(ascii: "ab")
                $0.removeLast(3)
                $0.append(ascii: "c")
                $0.removeLast(.max)
            } == "")
    }

    @Test func `A writer begins anew with the memory that it has`() {
        let text = written(capacity: 2) { writer in
            for _ in 0..<3 {
                writer.removeAll()
                writer.append(ascii: "abcdefgh")
            }
            writer.removeAll()
            writer.append(ascii: "xyz")
            writer.append(copying: 1..<8)
        }
        #expect(text == "xyzyz")
    }

    @Test func `An error of the body is rethrown`() {
        #expect(throws: CancellationError.self) { try withByteWriter(capacity: 1) { _ in throw CancellationError() } }
    }
}
