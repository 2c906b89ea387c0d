import Glibc
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodStorage

struct StoreKeySourceTests {
    private let folder: TemporaryFolder
    private let store = StoreIdentifier.random()

    init() throws {
        folder = try TemporaryFolder()
    }

    private func source(named path: String) -> KeyFile { KeyFile(path: path) }

    @Test func `A key file is made once, with mode 0600, and read ever after`() async throws {
        let path = "\(folder.path)/key"
        let missing = await #expect(throws: StorageError.self) {
            try await KeyFile(path: path).key(for: store, salt: [], isNew: false)
        }
        #expect(missing?.code == .unavailable && missing?.subject == path)
        let key = try await KeyFile(path: path).key(for: store, salt: [], isNew: true)
        #expect(key.count == 32)
        #expect(try await KeyFile(path: path).key(for: store, salt: [9], isNew: true) == key)
        #expect(try await KeyFile(path: path).key(for: store, salt: [], isNew: false) == key)
        var info = stat()
        #expect(lstat(path, &info) == 0 && info.st_mode & 0o7777 == 0o600)
        let names = try Command.python("import os, sys; print(*os.listdir(sys.argv[1]))", [folder.path])
        #expect(names == ["key"])
    }

    @Test(arguments: [mode_t(0o640), 0o604, 0o660])
    func `A key file that others can read is refused`(mode: mode_t) async throws {
        let path = try folder.write("key", String(repeating: "a", count: 64).utf8)
        chmod(path, mode)
        let error = await #expect(throws: StorageError.self) {
            try await KeyFile(path: path).key(for: store, salt: [], isNew: false)
        }
        #expect(error?.code == .permissions)
        #expect(error?.description.contains("chmod 600") == true)
    }

    @Test(arguments: ["", "abc", String(repeating: "a", count: 63), String(repeating: "g", count: 64), "\0"])
    func `A file that is no key is an error that says so`(text: String) async throws {
        let path = try folder.write("key", text.utf8)
        let error = await #expect(throws: StorageError.self) {
            try await KeyFile(path: path).key(for: store, salt: [], isNew: true)
        }
        #expect(error?.code == .damaged && error?.subject == path)
    }

    @Test func `Concurrent creations of a key file yield the same key`() async throws {
        let path = "\(folder.path)/key"
        let store = store
        let keys = try await withThrowingTaskGroup { group in
            for _ in 0..<20 { group.addTask { try await KeyFile(path: path).key(for: store, salt: [], isNew: true) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(keys.allSatisfy { $0 == keys[0] })
    }

    @Test func `A key is read from a variable; a missing or malformed one is an error`() async throws {
        let name = "NEVOD_TEST_KEY_\(UInt32.random(in: 0 ... .max))"
        let source = EnvironmentKey(variable: name)
        #expect(await !source.isAvailable())
        let missing = await #expect(throws: StorageError.self) { try await source.key(for: store, salt: [], isNew: false) }
        #expect(missing?.code == .unavailable)
        setenv(name, "hunter2", 1)
        defer { unsetenv(name) }
        let error = await #expect(throws: StorageError.self) { try await source.key(for: store, salt: [], isNew: false) }
        #expect(error?.code == .damaged)
        #expect(error?.description.contains("hunter2") == false)
        setenv(name, String(repeating: "0f", count: 32), 1)
        #expect(await source.isAvailable())
        let key = try await source.key(for: store, salt: [], isNew: false)
        #expect(key == Secret(copying: [UInt8](repeating: 15, count: 32)))
    }

    @Test func `A data key opens with the source it was wrapped with, and with no other`() async throws {
        let (one, two) = (KeyFile(path: "\(folder.path)/one"), KeyFile(path: "\(folder.path)/two"))
        _ = try await two.key(for: store, salt: [], isNew: true)
        let key = SealingKey.random()
        let sealed = try await SealedKey.make(
            key, of: store, named: "s.db", with: [EnvironmentKey(variable: "NEVOD_UNSET"), one])
        #expect(sealed.kind == "key-file")
        #expect(try await sealed.open(named: "s.db", with: [one]).bytes == key.bytes)
        let wrong = await #expect(throws: StorageError.self) { try await sealed.open(named: "s.db", with: [two]) }
        #expect(wrong?.code == .permissions)
        #expect(wrong?.subject == "s.db")
        // No other type of source is used instead.
        let other = await #expect(throws: StorageError.self) {
            try await sealed.open(named: "s.db", with: [EnvironmentKey(variable: "PATH")])
        }
        #expect(other?.description.hasPrefix("s.db: is sealed by key-file") == true)
        let elsewhere = SealedKey(store: .random(), kind: sealed.kind, salt: sealed.salt, sealed: sealed.sealed)
        let moved = await #expect(throws: StorageError.self) { try await elsewhere.open(named: "s.db", with: [one]) }
        #expect(moved?.code == .permissions)
        let without = await #expect(throws: StorageError.self) {
            try await SealedKey.make(key, of: store, named: "s.db", with: [])
        }
        #expect(without?.code == .unavailable)
    }

    @Test func `A key that wraps the old data key wraps none in its place`() async throws {
        let (one, two) = (KeyFile(path: "\(folder.path)/one"), KeyFile(path: "\(folder.path)/two"))
        let old = try await SealedKey.make(.random(), of: store, named: "s.db", with: [one])
        let same = try folder.write("same", contents(of: "\(folder.path)/one"))
        for source in [one, KeyFile(path: same)] {
            let error = await #expect(throws: StorageError.self) {
                try await SealedKey.make(.random(), of: store, named: "s.db", with: [source], inPlaceOf: old)
            }
            #expect(error?.problem.hasPrefix("is sealed by \(source.description) already") == true)
        }
        let key = SealingKey.random()
        let new = try await SealedKey.make(key, of: store, named: "s.db", with: [two], inPlaceOf: old)
        #expect(try await new.open(named: "s.db", with: [two]).bytes == key.bytes)
    }

    @Test func `The source that wrapped a key opens it, wherever it is among others of its kind`() async throws {
        let (one, two) = (KeyFile(path: "\(folder.path)/one"), KeyFile(path: "\(folder.path)/two"))
        let missing = KeyFile(path: "\(folder.path)/missing")
        _ = try await two.key(for: store, salt: [], isNew: true)
        let key = SealingKey.random()
        let sealed = try await SealedKey.make(key, of: store, named: "s.db", with: [one])
        for sources in [[two, one], [one, two], [missing, two, one]] {
            #expect(try await sealed.open(named: "s.db", with: sources).bytes == key.bytes)
        }
        let three = KeyFile(path: "\(folder.path)/three")
        _ = try await three.key(for: store, salt: [], isNew: true)
        let wrong = await #expect(throws: StorageError.self) { try await sealed.open(named: "s.db", with: [two, three]) }
        #expect(wrong?.problem == "does not open with \(two.description), \(three.description)")
        // The missing source might have been the right one.
        for sources in [[two, missing], [missing, two]] {
            let error = await #expect(throws: StorageError.self) { try await sealed.open(named: "s.db", with: sources) }
            #expect(error?.subject == "\(folder.path)/missing")
        }
    }

    @Test func `A passphrase's key depends on the salt, and none is no passphrase`() async throws {
        let source = Passphrase { _ in Secret("correct horse") }
        let key = try await source.key(for: store, salt: [1], isNew: true)
        #expect(try await source.key(for: store, salt: [1], isNew: false) == key)
        #expect(try await source.key(for: store, salt: [2], isNew: false) != key)
        for nothing in [nil, Secret("")] {
            let error = await #expect(throws: StorageError.self) {
                try await Passphrase { _ in nothing }.key(for: store, salt: [], isNew: false)
            }
            #expect(error?.code == .unavailable)
        }
    }
}
