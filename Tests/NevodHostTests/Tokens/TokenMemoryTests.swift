import NevodSupport
import Testing

@testable import NevodHost

struct TokenMemoryTests {
    private func bytes(_ text: String) -> Secret { Secret(copying: Array(text.utf8)) }

    private func install(_ text: String, ifWrites writes: UInt64, in memory: inout TokenMemory<Token>) -> Bool {
        memory.install(Token(value: text), bytes(text), ifWrites: writes, renewal: nil)
    }

    @Test func `A read from before a write doesn't undo it`() {
        var memory = TokenMemory<Token>()
        let writes = memory.writes
        memory.installWritten(Token(value: "2"), bytes("2"), renewal: nil)
        let isStale = !install("1", ifWrites: writes, in: &memory)
        #expect(isStale)
        #expect(memory.current.token?.value == "2")
        let isNew = install("3", ifWrites: memory.writes, in: &memory)
        #expect(isNew)
        #expect(memory.current.token?.value == "3")
    }

    @Test func `A read doesn't replace a token that is still to be written`() {
        var memory = TokenMemory<Token>()
        memory.installWritten(Token(value: "1"), bytes("1"), renewal: nil)
        let isKept = memory.installUnsaved(
            Token(value: "2"), bytes("2"), ifVersion: memory.current.version, renewal: nil)
        let isRead = install("1", ifWrites: memory.writes, in: &memory)
        #expect(isKept)
        #expect(!isRead)
        #expect(memory.current.token?.value == "2")
        #expect(memory.stored == bytes("1"))
    }
}
