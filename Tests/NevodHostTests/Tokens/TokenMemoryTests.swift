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

    /// The events that readers have received so far.
    private func events(_ memory: inout TokenMemory<Token>) -> [String] {
        defer { memory.didTell() }
        return (memory.takeNews() ?? []).compactMap(\.event).map { "\($0) \($0.token?.value ?? "")" }
    }

    @Test func `A write that a read finds before it has returned is told once, for its own reason`() {
        struct Refused: Error, CustomStringConvertible { var description: String { "why" } }
        var memory = TokenMemory<Token>()
        memory.willWrite(bytes("1"), .renewal)
        let isFirst = install("1", ifWrites: memory.writes, in: &memory)
        memory.installWritten(Token(value: "1"), bytes("1"), renewal: nil, cause: .renewal)
        #expect(isFirst && events(&memory) == ["the token was renewed 1"])

        memory.willWrite(nil, .refusal(Refused()))
        let isCleared = memory.install(nil, nil, ifWrites: memory.writes, renewal: nil)
        memory.installWritten(nil, nil, renewal: nil, cause: .refusal(Refused()))
        #expect(isCleared && events(&memory) == ["the server refused to renew the token: why "])

        // A failed write leaves nothing with which another process's token could be confused when it is read.
        memory.willWrite(bytes("2"), .renewal)
        memory.didNotWrite()
        let isTheirs = install("2", ifWrites: memory.writes, in: &memory)
        #expect(isTheirs && events(&memory) == ["a token was saved 2"])
    }

    @Test func `Only one thread tells readers, and goes on with what happens meanwhile`() {
        var memory = TokenMemory<Token>()
        memory.installWritten(Token(value: "1"), bytes("1"), renewal: nil)
        let first = memory.takeNews()
        memory.installWritten(nil, nil, renewal: nil)
        let other = memory.takeNews()
        memory.didTell()
        let next = memory.takeNews()
        #expect(first?.count == 1 && other == nil && next?.count == 1)
    }

    @Test func `A read that a later one has overtaken is dropped, and so is a value from before that one`() {
        var memory = TokenMemory<Token>()
        _ = install("1", ifWrites: memory.writes, in: &memory)
        let (slow, writes) = memory.beginRead()
        let (fast, _) = memory.beginRead()
        let isNew = memory.install(Token(value: "3"), bytes("3"), number: fast, ifWrites: writes, renewal: nil)
        let isOld = memory.install(Token(value: "2"), bytes("2"), number: slow, ifWrites: writes, renewal: nil)
        #expect(isNew && !isOld && memory.current.token?.value == "3")
        // A read that finds the known value also counts.
        let (slower, _) = memory.beginRead()
        let isKnown = memory.endRead(memory.beginRead().number, bytes("3"))
        let isLate = memory.install(Token(value: "2"), bytes("2"), number: slower, ifWrites: writes, renewal: nil)
        #expect(isKnown && !isLate && memory.current.token?.value == "3")
    }

    @Test func `A read that a write has overtaken has to be repeated`() {
        var memory = TokenMemory<Token>()
        let (number, writes) = memory.beginRead()
        memory.willWrite(bytes("1"), .program)
        memory.installWritten(Token(value: "1"), bytes("1"), renewal: nil)
        // After that, another process has written this one.
        let isInstalled = memory.install(Token(value: "2"), bytes("2"), number: number, ifWrites: writes, renewal: nil)
        let (again, writesNow) = memory.beginRead()
        #expect(!isInstalled && memory.hasOvertaken(writes) && !memory.hasOvertaken(writesNow))
        let isRead = memory.install(Token(value: "2"), bytes("2"), number: again, ifWrites: writesNow, renewal: nil)
        #expect(isRead && memory.current.token?.value == "2")
    }
}
