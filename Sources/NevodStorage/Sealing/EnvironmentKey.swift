internal import Glibc
public import NevodSupport

/// A key in an environment variable, as 64 hexadecimal digits, for containers that get their secrets that way. Any process of the
/// same user can read it.
public struct EnvironmentKey: StoreKeySource {
    private let variable: String

    /// - Parameter variable: The variable's name.
    public init(variable: String) {
        self.variable = variable
    }

    public var kind: String { "environment" }
    public var description: String { "the environment variable \(variable)" }

    public func isAvailable() async -> Bool { getenv(variable) != nil }

    public func key(for store: StoreIdentifier, salt: [UInt8], isNew: Bool) async throws -> Secret {
        guard let text = getenv(variable) else {
            throw StorageError(
                .unavailable, variable, problem: "is not set, but must hold the key of this store", remedy: "set it")
        }
        guard let key = Hexadecimal.secret(UnsafeRawBufferPointer(start: text, count: strlen(text))), key.count == SealingKey.size
        else {
            throw StorageError(
                .damaged, variable, problem: "is not a key: \(2 * SealingKey.size) hexadecimal digits",
                remedy: "create one with: openssl rand -hex \(SealingKey.size)")
        }
        return key
    }
}
