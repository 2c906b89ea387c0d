// Not built on Linux, which has no keychain: no test of ours has run this file.
#if canImport(Security)
    public import Foundation
    public import NevodHost
    internal import Security

    /// Values in the keychain, as generic passwords of one service: encrypted, readable after the first unlock, never copied
    /// to another device. The store for production on Apple's systems.
    ///
    /// Calls go to another process and may wait, so they are made on a thread of the store's own. On macOS the program must be
    /// signed with a keychain access group; one that is not gets `errSecMissingEntitlement`, as a ``StorageError``.
    public final class KeychainStorage: KeyValueStorage {
        private let service: String
        private let accessGroup: String?
        private let thread = StorageThread()

        /// - Parameter service: what keeps these items apart from those of other programs.
        /// - Parameter accessGroup: shared with other apps of the same team that name it as well.
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
                // Otherwise macOS looks in the old keychain, which knows neither access groups nor accessibility.
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

        /// Each call changes the item in one step. Removing it first would leave a moment without any.
        func write(_ value: Data) throws(StorageError) {
            let change: [CFString: CFTypeRef] = [
                kSecValueData: value as CFData,
                kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]
            var status = SecItemUpdate(query(), change as CFDictionary)
            if status == errSecItemNotFound {
                status = SecItemAdd(query(change), nil)
                // Another process has added it in between.
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
                case errSecInteractionNotAllowed: (.unavailable, "unlock the device once after it has started")
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
