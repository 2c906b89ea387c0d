import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodStorage

struct LayeredCopyTests {
    private let a = Secret("a")
    private let b = Secret("b")
    private let c = Secret("c")

    @Test func `Every copy can be decoded again`() throws {
        let copies: [LayeredCopy] = [
            .seen(nil), .seen(a), .seen(Secret("")), .seen(Secret(copying: [0, 255, 0])), .recording(nil, over: nil),
            .recording(a, over: nil), .recording(Secret(""), over: .seen(b)), .sending(a, over: b), .sending(nil, over: b),
            .seen(nil, version: 0), .seen(a, version: .max), .seen(Secret(""), version: 256), .sending(a, over: b, version: 7),
            .recording(c, over: .sending(a, over: b)), .recording(nil, over: .sending(a, over: nil)),
        ]
        for copy in copies { #expect(try LayeredCopy(copy.encoded, for: "k") == copy) }
        #expect(Set(copies.map { hex($0.encoded.withUnsafeBytes { Array($0) }) }).count == copies.count)
    }

    @Test func `Foreign and truncated bytes are refused`() throws {
        let whole = LayeredCopy.sending(nil, over: b).encoded.withUnsafeBytes { Array($0) }
        let strange: [[UInt8]] = [[], Array("a token".utf8), Array("NVL1".utf8), Array("NVL1".utf8) + [64, 0, 0], whole + [0]]
        for bytes in strange + (0..<whole.count).map({ Array(whole[..<$0]) }) {
            let error = #expect(throws: StorageError.self) { try LayeredCopy(Secret(copying: bytes), for: "k") }
            #expect(error?.code == .damaged && error?.subject == "k")
        }
    }

    @Test func `A cleared value is kept as a digest only`() {
        let secret = "a secret that was cleared"
        let bytes = LayeredCopy.recording(nil, over: .seen(Secret(secret))).encoded.withUnsafeBytes { Array($0) }
        #expect(!String(decoding: bytes, as: UTF8.self).contains(secret))
    }

    @Test func `A pending write applies to the value that was known, and to no other`() {
        let recorded = LayeredCopy.recording(b, over: .seen(a))
        #expect(recorded.step(over: a) == .send(.sending(b, over: a)))
        #expect(recorded.step(over: b) == .upToDate)
        #expect(recorded.step(over: c) == .overruled)
        // Another process has logged out.
        #expect(recorded.step(over: nil) == .overruled)
    }

    @Test func `A logout counts against what it cleared, known or not, and never against a later login`() {
        #expect(LayeredCopy.recording(nil, over: .seen(a)).step(over: a) != .overruled)
        #expect(LayeredCopy.recording(nil, over: .seen(a)).step(over: c) == .overruled)
        let unseen = LayeredCopy.recording(nil, over: nil)
        guard case .send(let sent) = unseen.step(over: c) else { return #expect(Bool(false), "c stays") }
        // After this step, the cleared value is known.
        #expect(sent.step(over: c) != .overruled)
        #expect(sent.step(over: a) == .overruled)
        // A login after an unseen logout also overrules. Without the logout, it doesn't overrule an unseen value.
        #expect(LayeredCopy.recording(b, over: unseen).step(over: c) != .overruled)
        #expect(LayeredCopy.recording(b, over: nil).step(over: c) == .overruled)
        #expect(LayeredCopy.recording(b, over: nil).step(over: nil) != .overruled)
    }

    @Test func `For a sent value that is missing, it is unknown whether it was cleared`() {
        #expect(LayeredCopy.sending(b, over: nil).step(over: nil) == .overruled)
        #expect(LayeredCopy.sending(b, over: a).step(over: a) != .overruled)
        // The remote store has never held a later login.
        let next = LayeredCopy.recording(c, over: .recording(nil, over: .sending(b, over: nil)))
        #expect(next.step(over: nil) != .overruled)
        #expect(next.step(over: b) != .overruled)
    }
}
