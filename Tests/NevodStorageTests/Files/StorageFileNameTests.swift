import NevodTestSupport
import Testing

@testable import NevodStorage

struct StorageFileNameTests {
    private func name(_ key: String) -> String { StorageFileName(StorageKey(rawValue: key)).text }

    @Test(arguments: [
        ("nevod.token", "nevod.token"), ("a-b_9", "a-b_9"), ("", "%"), (".", "%2e"), ("..", "%2e%2e"), (".lock", "%2elock"),
        ("../etc", "%2e.%2fetc"), ("end.", "end%2e"), ("Token", "%54oken"), ("a%41", "a%2541"), ("a b\0\n", "a%20b%00%0a"),
        ("é", "%c3%a9"),
    ])
    func `All but lower-case letters, digits and a few signs are escaped`(key: String, expected: String) {
        #expect(name(key) == expected)
    }

    @Test func `Names are safe, bounded and distinct for every key`() {
        let pieces = ["", ".", "..", "/", "%", "%%", "%2e", "a", "A", "é", "e\u{301}", "ß", "\0", "\n", "😀", "lock", "new"]
        var keys = Set(
            pieces.flatMap { first in pieces.flatMap { second in pieces.map { StorageKey(rawValue: first + second + $0) } } })
        for (length, letter) in pairs(190...210, ["a", "b", "A", "/"]) {
            keys.insert(StorageKey(rawValue: String(repeating: letter, count: length)))
        }
        let names = Set(keys.map { StorageFileName($0).text })
        #expect(names.count == keys.count)
        #expect(Set(names.map { $0.lowercased() }).count == keys.count)
        let allowed = Set("abcdefghijklmnopqrstuvwxyz0123456789-_.%")
        for name in names {
            #expect(!name.isEmpty && name.utf8.count <= 200 && !name.hasPrefix(".") && allowed.isSuperset(of: name))
        }
    }

    @Test(arguments: ["", ".", "..", "a%41", "Token", "é", "e\u{301}", "\0\n", "nevod.token", "end."])
    func `A name tells its key`(key: String) {
        #expect(StorageFileName.key(of: name(key)) == StorageKey(rawValue: key))
    }

    @Test(arguments: [".lock", ".new", "Token", "%", "%2", "%zz", "%61", "%%", "end.", "%ff", "a b", "%2E"])
    func `A name that no key has tells none`(name: String) {
        #expect(StorageFileName.key(of: name) == (name == "%" ? "" : nil))
    }

    @Test func `A long key becomes its digest, as Python makes it`() throws {
        let key = String(repeating: "long/", count: 1000)
        let digest = try Command.python("import hashlib; print(hashlib.sha256(b'long/' * 1000).hexdigest())")[0]
        #expect(name(key) == "%%" + digest)
    }
}
