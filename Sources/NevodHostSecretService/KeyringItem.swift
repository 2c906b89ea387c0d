internal import NevodStorage
package import NevodSupport

/// A secret in the desktop's keyring that other programs can read and write too: `secret-tool store application APPLICATION name
/// NAME`.
///
/// An item has the attributes `application` and `name`, which the keyring doesn't hide, and holds the secret unchanged. (The
/// items of ``SecretServiceStorage`` have their own form and kind.)
package struct KeyringItem: Sendable {
    private let name: String
    private let application: String

    /// - Parameters:
    ///   - name: Any text without a NUL; not hidden.
    ///   - application: Distinguishes the items of different programs; not hidden.
    package init(_ name: String, application: String) {
        self.name = name
        self.application = application
    }

    /// Reads the secret; nil if there is no such item.
    ///
    /// - Throws: `StorageError` of code `unavailable` for a keyring that is locked or can't be reached.
    package func secret() async throws -> Secret? {
        let attributes = try attributes()
        return try await ServiceClient.shared.run { (session, call) throws(SecretServiceError) in
            try session.secret(of: attributes, call)
        }
    }

    /// Writes the secret, and replaces an earlier one. It must be UTF-8 without NUL, because some services reject anything else.
    ///
    /// - Throws: `StorageError` as ``secret()``, and if the secret is not such text.
    package func set(_ secret: Secret) async throws {
        let isText = secret.withUnsafeBytes { bytes in
            !bytes.contains(0) && String(validating: bytes, as: UTF8.self) != nil
        }
        guard isText else {
            throw StorageError(
                .other, name, problem: "is not UTF-8 text, and some keyrings accept nothing else",
                remedy: "keep it in a file")
        }
        let attributes = try attributes()
        let label = "\(application): \(name)"
        try await ServiceClient.shared.run { (session, call) throws(SecretServiceError) in
            try session.set(secret, attributes, label: label, call)
        }
    }

    /// Removes the item, if there is one.
    ///
    /// - Throws: `StorageError` as ``secret()``.
    package func remove() async throws {
        let attributes = try attributes()
        try await ServiceClient.shared.run { (session, call) throws(SecretServiceError) in
            try session.remove(attributes, call)
        }
    }

    /// The attributes name no kind of item, because `secret-tool` writes a kind of its own.
    private func attributes() throws(StorageError) -> ServiceAttributes {
        try ServiceAttributes(schema: nil, [("application", application), ("name", name)])
    }
}
