// Not built on Linux, which has no keychain; this file has never been tested.
#if canImport(Security)
    public import Foundation
    public import NevodHost
    internal import Security

    /// Stores values in the keychain, as generic passwords of one service: encrypted, readable after the first unlock, never
    /// copied to another device. Use it in production on Apple's systems.
    ///
    /// Calls go to another process and may block, so they are made on the store's own thread. On macOS the program must be
    /// signed with a keychain access group; otherwise calls fail with `errSecMissingEntitlement`, as a ``StorageError``.
    public final class KeychainStorage: KeyValueStorage {
        private let service: String
        private let accessGroup: String?
        private let thread = StorageThread()

        /// - Parameters:
        ///   - service: separates these items from other programs' items.
        ///   - accessGroup: shares the items with other apps of the same team that name the same group.
        public init(service: String = Bundle.main.bundleIdentifier ?? "com.app", accessGroup: String? = nil) {
            self.service = service
            self.accessGroup = accessGroup
        }

        public func data(for key: StorageKey) async throws(StorageError) -> Data? {
            let item = KeychainItem(service: service, accessGroup: accessGroup, key: key)
            return try await thread.run { () throws(StorageError) in try item.read() }
        }

        public func set(_ value: Data?, for key: StorageKey) async throws(StorageError) {
            let item = KeychainItem(service: service, accessGroup: accessGroup, key: key)
            try await thread.run { () throws(StorageError) in
                if let value { try item.write(value) } else { try item.remove() }
            }
        }

        public func remove(for key: StorageKey) async throws(StorageError) {
            try await set(nil as Data?, for: key)
        }
    }

    private struct KeychainItem: Sendable {
        let service: String
        let accessGroup: String?
        let key: StorageKey

        private func query(_ more: [CFString: CFTypeRef] = [:]) -> CFDictionary {
            var query: [CFString: CFTypeRef] = [
                kSecClass: kSecClassGenericPassword,
                kSecAttrService: service as CFString,
                kSecAttrAccount: key.rawValue as CFString,
                // Without this, macOS uses the old keychain, which supports neither access groups nor accessibility.
                kSecUseDataProtectionKeychain: kCFBooleanTrue,
            ]
            query[kSecAttrAccessGroup] = accessGroup.map { $0 as CFString }
            return query.merging(more) { $1 } as CFDictionary
        }

        func read() throws(StorageError) -> Data? {
            var result: CFTypeRef?
            let status = SecItemCopyMatching(query([kSecReturnData: kCFBooleanTrue]), &result)
            if status == errSecItemNotFound { return nil }
            try check(status, "can't be read")
            guard let data = result as? Data else {
                throw StorageError(.damaged, key.rawValue, problem: "is in the keychain without a value")
            }
            return data
        }

        /// Each call changes the item atomically. Removing it first could lose it in a crash.
        func write(_ value: Data) throws(StorageError) {
            let change: [CFString: CFTypeRef] = [
                kSecValueData: value as CFData,
                kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]
            var status = SecItemUpdate(query(), change as CFDictionary)
            if status == errSecItemNotFound {
                status = SecItemAdd(query(change), nil)
                // Another process has added it meanwhile.
                if status == errSecDuplicateItem { status = SecItemUpdate(query(), change as CFDictionary) }
            }
            try check(status, "can't be saved")
        }

        func remove() throws(StorageError) {
            let status = SecItemDelete(query())
            if status != errSecItemNotFound { try check(status, "can't be removed") }
        }

        private func check(_ status: OSStatus, _ action: String) throws(StorageError) {
            guard status != errSecSuccess else { return }
            let reason = SecCopyErrorMessageString(status, nil).map { $0 as String } ?? "OSStatus"
            let (code, remedy): (StorageError.Code, String?) =
                switch status {
                case errSecInteractionNotAllowed: (.unavailable, "unlock the device once after its start")
                case errSecMissingEntitlement: (.permissions, "sign the app with the keychain access group it names")
                case errSecAuthFailed, errSecUserCanceled: (.permissions, nil)
                case errSecNotAvailable: (.unavailable, nil)
                default: (.other, nil)
                }
            throw StorageError(
                code, key.rawValue, problem: "\(action): \(reason) (\(status))", remedy: remedy, systemCode: status)
        }
    }
#endif
