import NevodTestSupport
import Testing

@Suite(.blocking, .serialized) struct SecretServiceKeyTests {
    private let session: KeyringSession
    private let child: Child

    init() throws {
        session = try KeyringSession()
        try session.startBus()
        try session.startKeyring()
        child = try session.child()
    }

    private static let stores = ["0a", "0b"].map { String(repeating: $0, count: 16) }

    @Test func `A store's key is made with the store, and is in the keyring`() throws {
        let (store, other) = (Self.stores[0], Self.stores[1])
        #expect(child("key \(store) old").hasPrefix("unavailable: the keyring: holds no key of the store \(store)"))
        let key = child("key \(store) new")
        #expect(key.count == 64 && key != String(repeating: "0", count: 64))
        #expect(child("key \(store) old") == key && child("key \(store) new") == key)
        #expect(try session.output(["secret-tool", "lookup", "store", store]) == key)
        #expect(child("key \(other) new") != key)
    }

    private func count() throws -> String {
        try session.python("print(len(list(secretstorage.search_items(bus, {'xdg:schema': 'dev.nevod.StoreKey'}))))")
    }

    @Test func `Each salt has a key of its own`() throws {
        let store = Self.stores[0]
        let keys = ["00", "0001", "fe"].map { child("key \(store) new \($0)") }
        #expect(Set(keys).count == 3)
        #expect(["00", "0001", "fe"].map { child("key \(store) old \($0)") } == keys)
        #expect(child("key \(store) old 01").hasPrefix("unavailable: the keyring: holds no key of the store \(store)"))
        #expect(try session.output(["secret-tool", "lookup", "store", store, "salt", "fe"]) == keys[2])
        #expect(try count() == "3")
    }

    @Test func `A store that is given another key in the keyring doesn't open with the one it had`() throws {
        let (path, file) = ("\(session.folder)/run/store.db", "\(session.folder)/run/key")
        #expect(child("open \(path) \(file)") == "secret-service")
        let old = try session.python(
            "print(*(i.item_path for i in secretstorage.search_items(bus, {'xdg:schema': 'dev.nevod.StoreKey'})))")
        #expect(child("rekey \(path)") == "ok")
        #expect(try count() == "2")
        #expect(child("open \(path) \(file)") == "secret-service")
        // The new store key is a separate item, so deleting the old one does no harm.
        try session.python("secretstorage.Item(bus, '\(old)').delete()")
        #expect(child("open \(path) \(file)") == "secret-service")
    }

    @Test func `The count of a store's changes is in the keyring, from its first removal`() throws {
        let store = Self.stores[0]
        #expect(child("count-of \(store) 00") == "-")
        #expect(child("keep \(store) 00 7 set") == "ok" && child("count-of \(store) 00") == "-")
        #expect(child("keep \(store) 00 8 removed") == "ok" && child("count-of \(store) 00") == "8")
        #expect(child("keep \(store) 00 5 removed") == "ok" && child("count-of \(store) 00") == "8")
        #expect(child("keep \(store) 00 18446744073709551615 removed") == "ok")
        #expect(
            try session.output(["secret-tool", "lookup", "xdg:schema", "dev.nevod.StoreCount", "store", store]) == "\(UInt64.max)"
        )
        // Another key of the same store, and another store.
        #expect(child("count-of \(store) 01") == "-" && child("count-of \(Self.stores[1]) 00") == "-")
    }

    @Test func `An item that is no key of this store is refused`() throws {
        for text in ["", "00", String(repeating: "g", count: 64), String(repeating: "0", count: 66)] {
            try session.python(
                """
                secretstorage.get_default_collection(bus).create_item('x', {'xdg:schema': 'dev.nevod.StoreKey',
                    'store': '\(Self.stores[0])', 'salt': '00'}, b'\(text)', replace=True)
                """)
            #expect(child("key \(Self.stores[0]) old").hasPrefix("damaged: the keyring: holds an invalid key"), "\(text)")
        }
    }

    @Test func `A sealed store opens by the keyring alone, once it was made with it`() throws {
        let (path, file) = ("\(session.folder)/run/store.db", "\(session.folder)/run/key")
        #expect(child("open \(path) \(file)") == "secret-service")
        try session.python("secretstorage.get_default_collection(bus).lock()")
        #expect(child("open \(path) \(file)").hasPrefix("unavailable: the Secret Service: the keyring is locked"))
        // While the keyring is locked, a new store is sealed with the key file.
        #expect(child("open \(path)2 \(file)") == "key-file")
        session.killKeyring()
        try session.startKeyring()
        #expect(child("open \(path) \(file)") == "secret-service")
        #expect(child("open \(path)2 \(file)") == "key-file")
    }
}
