import Foundation
import NevodHost
import NevodHostFoundation
import Testing

/// A storage written according to the guide, with five plain methods.
private final class GuideStorage: KeyValueStorage {
    // Foundation on Linux doesn't declare UserDefaults Sendable, so Swift 6 requires this keyword.
    private nonisolated(unsafe) let defaults: UserDefaults

    init(userDefaults: UserDefaults = .standard) {
        self.defaults = userDefaults
    }

    nonisolated func string(for key: StorageKey) -> String? {
        defaults.string(forKey: key.rawValue)
    }

    nonisolated func data(for key: StorageKey) -> Data? {
        defaults.data(forKey: key.rawValue)
    }

    nonisolated func set(_ value: String?, for key: StorageKey) {
        defaults.set(value, forKey: key.rawValue)
    }

    nonisolated func set(_ value: Data?, for key: StorageKey) {
        defaults.set(value, forKey: key.rawValue)
    }

    nonisolated func remove(for key: StorageKey) {
        defaults.removeObject(forKey: key.rawValue)
    }
}

struct UserDefaultsStorageTests {
    private let suite = "nevod-host-tests-\(UUID())"

    private func exercise<Storage: KeyValueStorage>(_ storage: Storage) async throws {
        let bytes: [UInt8] = [0, 1, 254, 255]
        #expect(try await storage.data(for: "data") == nil)
        try await storage.set(Storage.Value(bytes), for: "data")
        #expect(try await storage.data(for: "data").map(Array.init) == bytes)
        try await storage.set("tökén", for: "text")
        #expect(try await storage.string(for: "text") == "tökén")
        try await storage.set(nil as Storage.Value?, for: "data")
        #expect(try await storage.data(for: "data") == nil)
        try await storage.remove(for: "text")
        #expect(try await storage.string(for: "text") == nil)
    }

    @Test func `Stored values are read back`() async throws {
        let defaults = try #require(UserDefaults(suiteName: suite))
        defer { defaults.removePersistentDomain(forName: suite) }
        try await exercise(UserDefaultsStorage(userDefaults: defaults))
    }

    @Test func `A storage written as in the guide conforms, and its strings are read`() async throws {
        let defaults = try #require(UserDefaults(suiteName: suite))
        defer { defaults.removePersistentDomain(forName: suite) }
        let guide = GuideStorage(userDefaults: defaults)
        try await exercise(guide)
        // Calls the type's own synchronous method, like an app's synchronous code, and not the protocol's default.
        func save() { guide.set("old", for: "text") }
        save()
        #expect(defaults.string(forKey: "text") == "old")
        #expect(try await UserDefaultsStorage(userDefaults: defaults).string(for: "text") == "old")
    }

    @Test func `A token that Nevod stored in the defaults is found by either store`() async throws {
        let defaults = try #require(UserDefaults(suiteName: suite))
        defer { defaults.removePersistentDomain(forName: suite) }
        let text =
            #"[{"name":"sid","value":"a\/b","domain":".example.com","path":"\/","expiresDate":2000000000.5,"#
            + #""isSecure":true,"isHTTPOnly":false}]"#
        for (json, isText) in [(#"{"value":"secret"}"#, false), (#"{"value":"secret"}"#, true), (text, false)] {
            defaults.set(isText ? json : Data(json.utf8), forKey: "com.nevod.token")
            let found = UserDefaultsStorage(userDefaults: defaults)
            let guide = GuideStorage(userDefaults: defaults)
            if json == text {
                let token = try await TokenStorage<CookieToken>(storage: found).load()
                #expect(token?.sessionCookies.first?.value == "a/b" && token?.sessionCookies.first?.isHostOnly == false)
                #expect(token?.expiresAt == UnixTime(seconds: 2_978_307_200))
                #expect(try await TokenStorage<CookieToken>(storage: guide).load() == token)
            } else {
                #expect(try await TokenStorage<Token>(storage: found).load() == Token(value: "secret"))
                // The guide's store doesn't read text as data.
                let expected = isText ? nil : Token(value: "secret")
                #expect(try await TokenStorage<Token>(storage: guide).load() == expected)
                try await TokenStorage<Token>(storage: found).save(Token(value: "new"))
                #expect(defaults.object(forKey: "com.nevod.token") == nil)
                #expect(defaults.data(forKey: "nevod.token") == Data("new".utf8))
                defaults.removeObject(forKey: "nevod.token")
            }
        }
    }

    @Test func `Concurrent tasks lose no value`() async throws {
        let defaults = try #require(UserDefaults(suiteName: suite))
        defer { defaults.removePersistentDomain(forName: suite) }
        let storage = UserDefaultsStorage(userDefaults: defaults)
        await withTaskGroup { group in
            for number in 0..<100 {
                group.addTask { storage.set(Data("\(number)".utf8), for: StorageKey(value: "key\(number % 10)")) }
                group.addTask { _ = storage.data(for: StorageKey(value: "key\(number % 10)")) }
            }
        }
        for number in 0..<10 {
            #expect(storage.data(for: StorageKey(value: "key\(number)"))?.last == UInt8(ascii: "0") + UInt8(number))
        }
    }
}
