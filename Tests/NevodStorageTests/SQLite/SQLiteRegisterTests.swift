import Glibc
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodStorage

/// Tests rows that something other than the store has restored, removed or changed, here with Python's SQLite module.
@Suite(.blocking) struct SQLiteRegisterTests {
    private let folder: TemporaryFolder
    private let path: String
    private let key: KeyFile

    init() throws {
        folder = try TemporaryFolder()
        path = "\(folder.path)/store/tokens.db"
        key = KeyFile(path: "\(folder.path)/keys/key")
    }

    private func open() async throws -> SQLiteStorage { try await SQLiteStorage(path: path, keys: [key]) }

    @discardableResult
    private func python(_ script: String, _ arguments: [String] = []) throws -> [String] {
        try Command.python(
            "import sqlite3, sys\nd = sqlite3.connect(sys.argv[1], isolation_level=None)\n\(script)", [path] + arguments)
    }

    /// A closed store with three values, so that its file can be copied.
    private func makeStore() async throws {
        try await close { storage in
            for name in ["a", "b", "c"] { try await storage.set("of \(name)", for: StorageKey(rawValue: name)) }
        }
    }

    private func close(_ body: (SQLiteStorage) async throws -> Void) async throws {
        var storage: SQLiteStorage? = try await open()
        if let storage { try await body(storage) }
        storage = nil
        try #require(await eventually { access("\(path)-wal", F_OK) != 0 })
    }

    @Test func `The row of a session that was logged out, put back, is not read, and verification says so`() async throws {
        try await makeStore()
        let row = try python("print(d.execute(\"SELECT key, version, hex(sealed) FROM entry WHERE key = 'b'\").fetchone())")
        try await close { try await $0.remove(for: "b") }
        try python(
            "key, version, sealed = eval(sys.argv[2])\n"
                + "d.execute('INSERT INTO entry VALUES (?, ?, ?)', (key, version, bytes.fromhex(sealed)))", [row[0]])
        let storage = try await open()
        let error = await #expect(throws: StorageError.self) { try await storage.string(for: "b") }
        #expect(error?.code == .damaged)
        #expect(error?.problem == "the value of b was removed or replaced, and has been put back by something else")
        let swapped = await #expect(throws: StorageError.self) {
            try await storage.replace(Secret("of b"), with: Secret("x"), for: "b")
        }
        #expect(swapped?.code == .damaged)
        let found = try await storage.verify()
        #expect(found.values == 2 && found.problems.count == 1 && found.problems.first?.contains("of b was removed") == true)
        // The others stay readable, and a login repairs it.
        #expect(try await storage.string(for: "a") == "of a")
        try await storage.set("anew", for: "b")
        #expect(try await storage.string(for: "b") == "anew")
        #expect(try await storage.verify().problems == [])
    }

    @Test func `An older value in a row, or a row that is taken away, is damage of that value alone`() async throws {
        try await makeStore()
        let old = try python("print(d.execute(\"SELECT version, hex(sealed) FROM entry WHERE key = 'a'\").fetchone())")
        try await close { try await $0.set("newer", for: "a") }
        try python(
            "v, s = eval(sys.argv[2]); d.execute(\"UPDATE entry SET version = ?, sealed = ? WHERE key = 'a'\", "
                + "(v, bytes.fromhex(s)))\nd.execute(\"DELETE FROM entry WHERE key = 'b'\")", [old[0]])
        let storage = try await open()
        let older = await #expect(throws: StorageError.self) { try await storage.string(for: "a") }
        #expect(older?.problem == "the value of a was removed or replaced, and has been put back by something else")
        let gone = await #expect(throws: StorageError.self) { try await storage.string(for: "b") }
        #expect(gone?.problem.hasPrefix("the value of b is missing") == true)
        #expect(try await storage.string(for: "c") == "of c")
        let found = try await storage.verify()
        #expect(found.values == 1 && found.problems.count == 2)
        #expect(found.problems.contains("\(path): 1 of its values are missing"))
        let error = await #expect(throws: StorageError.self) { try await storage.rekey(KeyFile(path: "\(folder.path)/next")) }
        #expect(error?.code == .damaged)
        try await storage.remove(for: "b")
        try await storage.remove(for: "a")
        #expect(try await storage.verify().problems == [])
    }

    @Test(arguments: [Int64.max, .min, -1, 0])
    func `A version that no store writes is an error, and the value can be replaced`(version: Int64) async throws {
        try await makeStore()
        try python("d.execute(\"UPDATE entry SET version = \(version) WHERE key = 'a'\")")
        let storage = try await open()
        let error = await #expect(throws: StorageError.self) { try await storage.string(for: "a") }
        #expect(error?.code == .damaged)
        try await storage.set("anew", for: "a")
        #expect(try await storage.string(for: "a") == "anew")
        #expect(try await storage.verify().problems == [])
        // Shared with the stores that have no register.
        let next = #expect(throws: StorageError.self) {
            try SealedEntry(version: version == 0 ? -2 : version).nextVersion(of: "a", in: path)
        }
        #expect(next?.code == .damaged && next?.subject == path)
    }

    @Test(arguments: [
        "UPDATE store SET key_number = 9223372036854775807", "UPDATE store SET key_number = 0", "UPDATE store SET id = x''",
        "PRAGMA user_version = -1", "PRAGMA user_version = 2147483647", "DELETE FROM register WHERE page = 0",
        "DELETE FROM register", "UPDATE register SET sealed = x''", "UPDATE register SET page = 70000 + page WHERE page > 256",
    ])
    func `Numbers and pages that no store writes are errors`(change: String) async throws {
        try await makeStore()
        try python("d.execute(\"\(change)\")")
        let error = await #expect(throws: StorageError.self) {
            let storage = try await open()
            for name in ["a", "b", "c"] { _ = try await storage.string(for: StorageKey(rawValue: name)) }
            try await storage.rekey(KeyFile(path: "\(folder.path)/next"))
        }
        #expect(error?.code == .damaged, "\(error.map { "\($0)" } ?? "")")
    }

    @Test func `An older page of the register does not open in a newer store`() async throws {
        try await makeStore()
        let pages = try python("print([(p, s.hex()) for p, s in d.execute('SELECT page, sealed FROM register WHERE page > 0')])")
        let rows = try python("print([(k, v, s.hex()) for k, v, s in d.execute('SELECT key, version, sealed FROM entry')])")
        try await close { try await $0.remove(for: "b") }
        try python(
            """
            for p, s in eval(sys.argv[2]): d.execute('INSERT OR REPLACE INTO register VALUES (?, ?)', (p, bytes.fromhex(s)))
            for k, v, s in eval(sys.argv[3]): d.execute('INSERT OR REPLACE INTO entry VALUES (?, ?, ?)', (k, v, bytes.fromhex(s)))
            """, [pages[0], rows[0]])
        let storage = try await open()
        let error = await #expect(throws: StorageError.self) { try await storage.string(for: "b") }
        #expect(error?.code == .damaged)
        #expect(try await storage.verify().problems != [])
    }

    /// Compared with Python's cryptography and hashlib, which read the store according to the description of its format.
    @Test func `The register is what its description says`() async throws {
        try await makeStore()
        try await close { try await $0.remove(for: "c") }
        let wrapping = try await key.key(for: .random(), salt: [], isNew: false)
        let lines = try python(
            """
            import hashlib
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM
            store, kind, sealed = d.execute('SELECT id, key_kind, key_sealed FROM store').fetchone()
            def opened(key, sealed, place):
                assert sealed[0] == 1
                return AESGCM(key).decrypt(sealed[1:13], sealed[13:], place)
            key = opened(bytes.fromhex(sys.argv[2]), sealed, store + b'nevod data key by ' + kind.encode())
            number = lambda n: n.to_bytes(8, 'big')
            def page(index, version):
                [sealed] = d.execute('SELECT sealed FROM register WHERE page = ?', (index,)).fetchone()
                return opened(key, sealed, store + b'nevod registered page:' + number(version) + number(index))
            def entries(page, width):
                size = width + 8
                return [(page[i:i + width], int.from_bytes(page[i + width:i + size], 'big')) for i in range(0, len(page), size)]
            first = page(0, 0)
            print(first[0], *(int.from_bytes(first[i:i + 8], 'big') for i in (1, 9, 17)))
            versions = {}
            for byte, version in entries(first[25:], 1):
                middle = 1 + byte[0]
                for next, version in entries(page(middle, version), 1):
                    for digest, version in entries(page(257 + (middle - 1) * 256 + next[0], version), 16):
                        assert digest[:2] == byte + next
                        versions[digest] = version
            for name, version, sealed in d.execute('SELECT key, version, sealed FROM entry ORDER BY key'):
                assert versions.pop(hashlib.sha256(name.encode()).digest()[:16]) == version
                place = store + b'nevod registered value:' + number(version) + name.encode()
                print(name, version, opened(key, sealed, place).decode())
            assert not versions
            """, [wrapping.withUnsafeBytes { hex($0) }])
        #expect(lines.count == 3)
        #expect(lines.first?.hasPrefix("1 4 ") == true && lines.first?.hasSuffix(" 0") == true, "\(lines)")
        #expect(lines.dropFirst() == ["a 1 of a", "b 2 of b"])
    }

    /// Python writes a store with layout 1, a removed value and damaged ones.
    @Test func `A store of layout 1 is taken over with its values, and removed ones stay so`() async throws {
        let wrapping = try await key.key(for: .random(), salt: [], isNew: true)
        _ = folder.makeFolder("store")
        try python(Self.layout1, [wrapping.withUnsafeBytes { hex($0) }])
        chmod(path, 0o600)
        let storage = try await open()
        for number in 0..<300 {
            let name = StorageKey(rawValue: "k\(number)")
            #expect(try await storage.string(for: name) == (number == 7 ? nil : "value \(number)"))
        }
        for name: StorageKey in ["cut", "null", "changed"] {
            let error = await #expect(throws: StorageError.self, "\(name)") { try await storage.string(for: name) }
            #expect(error?.code == .damaged)
        }
        let found = try await storage.verify()
        #expect(found.values == 299 && found.problems.count == 3, "\(found.problems)")
        try await storage.set("next", for: "k7")
        // One more than the highest version.
        #expect(try python("print(d.execute(\"SELECT version FROM entry WHERE key = 'k7'\").fetchone()[0])") == ["502"])
        // A row with layout 1 no longer opens, wherever it comes from.
        try python(
            """
            d.execute("ATTACH ? AS old", (sys.argv[1] + '.layout-1',))
            d.execute("UPDATE entry SET (version, sealed) = (SELECT version, sealed FROM old.entry AS o WHERE o.key = entry.key) "
                "WHERE key = 'k8'")
            """)
        let error = await #expect(throws: StorageError.self) { try await open().string(for: "k8") }
        #expect(error?.code == .damaged)
    }

    private static let layout1 = """
        import os
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        d.executescript('''
        CREATE TABLE store (
            only INTEGER PRIMARY KEY CHECK (only = 1),
            id BLOB NOT NULL,
            key_number INTEGER NOT NULL,
            key_kind TEXT NOT NULL,
            key_salt BLOB NOT NULL,
            key_sealed BLOB NOT NULL
        ) STRICT;
        CREATE TABLE entry (
            key TEXT PRIMARY KEY,
            version INTEGER NOT NULL,
            sealed BLOB,
            length INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        PRAGMA user_version = 1;
        ''')
        store, data = os.urandom(16), os.urandom(32)
        def seal(key, value, place):
            nonce = os.urandom(12)
            return b'\\x01' + nonce + AESGCM(key).encrypt(nonce, value, place)
        wrapped = seal(bytes.fromhex(sys.argv[2]), data, store + b'nevod data key by key-file')
        d.execute("INSERT INTO store VALUES (1, ?, 1, 'key-file', ?, ?)", (store, os.urandom(16), wrapped))
        def add(name, version, sealed, length):
            d.execute('INSERT INTO entry VALUES (?, ?, ?, ?)', (name, version, sealed, length))
        d.execute('BEGIN')
        for number in range(300):
            name, version = f'k{number}', number + 202
            value = seal(data, f'value {number}'.encode(), store + version.to_bytes(8, 'big') + name.encode())
            add(name, version, None if number == 7 else value, 0 if number == 7 else len(value))
        add('null', 2, None, 40)
        add('cut', 2, b'x', 40)
        add('changed', 2**63 - 1, value, len(value))
        d.execute('COMMIT')
        """

    @Test func `An older copy of the whole store is noticed by the count beside its key, until a new key accepts it`()
        async throws
    {
        try await makeStore()
        let copy = try contents(of: path)
        try await close { try await $0.remove(for: "b") }
        try folder.write("store/tokens.db", copy)
        // Whether or not it has been changed meanwhile.
        for changes in 0..<3 {
            try await close { storage in
                let problems = try await storage.verify().problems
                #expect(problems.count == 1, "\(problems)")
                #expect(problems.first?.contains("was turned back, or is a copy: it counted 4 changes before, and") == true)
                #expect(try await storage.string(for: "b") == "of b")
                for _ in 0..<changes { try await storage.set("more", for: "d") }
            }
        }
        // Beside the key, only this user can change it.
        let names = try Command.python("import os, sys; print(*os.listdir(sys.argv[1]))", ["\(folder.path)/keys"])
        #expect(names.count == 1 && names[0].hasSuffix(".count") || names[0].contains(".count "))
        let storage = try await SQLiteStorage(path: path, keys: [key, KeyFile(path: "\(folder.path)/keys/next")])
        try await storage.rekey(KeyFile(path: "\(folder.path)/keys/next"))
        #expect(try await storage.verify().problems == [])
        try await storage.set("after", for: "d")
        #expect(try await storage.verify().problems == [])
    }

    @Test func `A store that is turned back while it is open is noticed at once`() async throws {
        try await makeStore()
        let copy = try contents(of: path)
        let storage = try await open()
        try await storage.remove(for: "b")
        // Python restores the old content like another program would, in its own transaction.
        let old = try folder.write("old.db", copy)
        try python("sqlite3.connect(sys.argv[2]).backup(d)", [old])
        for call in [{ _ = try await storage.string(for: "b") }, { try await storage.set("x", for: "a") }]
            as [() async throws -> Void]
        {
            let error = await #expect(throws: StorageError.self) { try await call() }
            #expect(error?.code == .damaged && error?.problem.contains("was turned back while it was open") == true)
        }
    }

    @Test func `A key that has sealed as many values as is safe seals no more, until the store has a new one`() async throws {
        let storage = try await open()
        try await storage.set("one", for: "a")
        try await setSealings(SealingKey.mostSealings - 4, storage)
        // A value and three pages.
        try await storage.set("two", for: "a")
        let error = await #expect(throws: StorageError.self) { try await storage.set("three", for: "a") }
        #expect(error?.problem.contains("has sealed 4294967296 values") == true && error?.remedy?.contains("rekey") == true)
        #expect(try await storage.string(for: "a") == "two")
        try await storage.rekey(KeyFile(path: "\(folder.path)/keys/next"))
        try await storage.set("three", for: "a")
        #expect(try await storage.string(for: "a") == "three")
    }

    private func setSealings(_ count: UInt64, _ storage: SQLiteStorage) async throws {
        let connection = storage.connection
        try await storage.withCurrentKey { (opened) throws(StorageError) -> Void? in
            var first: [UInt8] = []
            try connection.database.run("SELECT sealed FROM register WHERE page = 0") { first = $0.blob(0) }
            guard let content = opened.open(page: .first, first, 0), var head = RegisterHead(content.prefix(RegisterHead.size))
            else {
                return nil
            }
            head.sealings = count
            let sealed = opened.seal(page: .first, head.encoded + content.dropFirst(RegisterHead.size), 0)
            try connection.database.run("UPDATE register SET sealed = ? WHERE page = 0", [.blob(sealed)])
            return ()
        }
    }

    @Test func `A page holds what was put into it, in any order, and reads its own bytes only`() throws {
        let rounds = Rounds("REGISTER", default: 200)
        var random = rounds.random
        for round in 0..<rounds.count {
            let number = RegisterPage.Number(index: round.isMultiple(of: 2) ? 1 : 300)
            var (page, model): (RegisterPage, [UInt128: UInt64]) = (RegisterPage(), [:])
            for _ in 0..<Int.random(in: 0...300, using: &random) {
                let id = UInt128(UInt64.random(in: 0...255, using: &random))
                let value = Bool.random(using: &random) ? UInt64.random(in: 0 ... .max, using: &random) : nil
                page[id] = value
                model[id] = value
            }
            #expect(page.entries.map(\.id) == model.keys.sorted(), "seed \(rounds.seed)")
            #expect(page.entries.allSatisfy { model[$0.id] == $0.number }, "seed \(rounds.seed)")
            var bytes = page.encoded(as: number)
            #expect(RegisterPage(bytes[...], as: number) == page, "seed \(rounds.seed)")
            // Other bytes are either not a page, or another page with the same bytes.
            guard !bytes.isEmpty else { continue }
            bytes[Int.random(in: bytes.indices, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            bytes.removeLast(Int.random(in: 0...bytes.count, using: &random))
            if let other = RegisterPage(bytes[...], as: number) { #expect(other.encoded(as: number) == bytes) }
        }
    }
}
