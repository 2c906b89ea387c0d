// A static build of this package has no Testing module, and runs no tests.
#if canImport(Testing)
    package import NevodHost
    import NevodSupport
    import Testing

    /// The rules that every sealed store obeys, whichever backend it has.
    package enum SealedStoreRules {
        package static func comparesAndSwaps<Storage: CompareAndSwapStorage>(_ storage: Storage) async throws
        where Storage.Value == [UInt8] {
            #expect(try await storage.replace(nil as [UInt8]?, with: [1], for: "a"))
            #expect(try await !storage.replace(nil as [UInt8]?, with: [2], for: "a"))
            #expect(try await !storage.replace([2], with: [3], for: "a"))
            #expect(try await storage.data(for: "a") == [1])
            #expect(try await storage.replace([1], with: [], for: "a"))
            #expect(try await !storage.replace(nil as [UInt8]?, with: [3], for: "a"))
            #expect(try await storage.replace([], with: nil, for: "a"))
            #expect(try await storage.data(for: "a") == nil)
        }

        /// - Parameters:
        ///   - own: the key that creates the store.
        ///   - other: a path without a key file.
        ///   - open: opens the store, which is also open elsewhere, with these sources of a key.
        package static func opensWithItsKeyAlone<Storage: CompareAndSwapStorage>(
            _ own: KeyFile, other: String, open: ([any StoreKeySource]) async throws -> Storage
        ) async throws where Storage.Value == [UInt8] {
            try await open([own]).set([1], for: "a")
            let other = KeyFile(path: other)
            let missing = await #expect(throws: StorageError.self) { _ = try await open([other]) }
            #expect(missing?.description.contains("the key file of this store is missing") == true)
            _ = try await other.key(for: .random(), salt: [], isNew: true)
            let wrong = await #expect(throws: StorageError.self) { _ = try await open([other]) }
            #expect(wrong?.description.contains("does not open with the key file") == true)
            let weaker = await #expect(throws: StorageError.self) { _ = try await open([EnvironmentKey(variable: "PATH")]) }
            #expect(weaker?.description.contains("is sealed by key-file") == true)
            #expect(try await open([own]).data(for: "a") == [1])
        }

        /// - Parameters:
        ///   - own: the key that creates the store.
        ///   - next: a path without a key file.
        ///   - open: opens the store with these sources of a key.
        package static func goesFromFileToFile<Storage: SealedStorage>(
            _ own: KeyFile, next: String, open: ([any StoreKeySource]) async throws -> Storage
        ) async throws {
            let next = KeyFile(path: next)
            let storage = try await open([own])
            try await storage.set(Secret("value"), for: "a")
            let others = [try await open([own, next]), try await open([next, own])]
            for (giver, source) in [(storage, next), (others[0], own), (others[1], next), (storage, own)] {
                try await giver.rekey(source)
                for each in others + [storage] {
                    #expect(try await each.verify().problems == [])
                    #expect(try await each.secret(for: "a") == Secret("value"))
                }
            }
        }
    }
#endif
