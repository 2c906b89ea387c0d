import NevodStorage
import Testing

struct StorageKeyTests {
    @Test func `Keys with the same name are equal, however they are made`() {
        let literal: StorageKey = "session"
        #expect(literal == StorageKey(value: "session") && literal == StorageKey(rawValue: "session"))
        #expect(literal.value == "session" && literal.rawValue == "session" && "\(literal)" == "session")
        #expect(StorageKey.token.rawValue == "nevod.token")
    }

    /// The two are equal as Strings, but not in a file system or a database.
    @Test func `Keys compare by code points, not by canonical equivalence`() {
        let (composed, decomposed): (StorageKey, StorageKey) = ("caf\u{E9}", "cafe\u{301}")
        #expect(composed.rawValue == decomposed.rawValue)
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed, "caf\u{E9}"]).count == 2)
    }
}
