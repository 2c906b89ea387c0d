import NevodHost
import NevodHostSecretService
import NevodSupport

/// A store's key, as flags name it: `secret-service`, `file:PATH`, `env:VARIABLE` or `passphrase`.
struct StoreKeyOption {
    let console: Console
    let givenAnswers: CommandLineAnswers

    /// - Parameters:
    ///   - flag: the flag with this text, for errors.
    ///   - answer: the name of the passphrase's `--answer`.
    func source(_ text: String, _ flag: String, answer: String) throws -> any StoreKeySource {
        switch text {
        case "secret-service": return SecretServiceKey()
        case "passphrase": return passphrase(answer).source
        case _ where text.hasPrefix("file:") && text != "file:": return KeyFile(path: try absolutePath(String(text.dropFirst(5))))
        case _ where text.hasPrefix("env:") && text != "env:": return EnvironmentKey(variable: String(text.dropFirst(4)))
        default: throw UsageError("\(flag) must be secret-service, file:PATH, env:VARIABLE or passphrase")
        }
    }

    /// The sources of a key without `--store-key`. A new store is sealed by the first that is available; an existing one opens with
    /// the kind that sealed it.
    var standardSources: [any StoreKeySource] {
        let file: [any StoreKeySource] = Self.keyPath.map { [KeyFile(path: $0)] } ?? []
        return [SecretServiceKey()] + file + [passphrase(Self.storeAnswer).source, EnvironmentKey(variable: Self.variable)]
    }

    private static let variable = "NEVOD_HOST_STORE_KEY"

    /// The key file's path. It isn't in the database's folder, so that a copy of that folder doesn't contain the key.
    static var keyPath: String? { HomeFolder.folder("XDG_CONFIG_HOME", ".config").map { "\($0)/nevod-host/store.key" } }

    func passphrase(_ answer: String) -> PassphrasePrompt { PassphrasePrompt(answer, givenAnswers) }

    /// The name of the `--answer` with the passphrase of a store.
    static let storeAnswer = "store-passphrase"
    /// The name of the `--answer` with the passphrase of an exported file, or with a new passphrase.
    static let fileAnswer = "passphrase"
}

/// Asks for a passphrase once per command, however often a store needs it.
final class PassphrasePrompt: Sendable {
    /// The name of the passphrase's `--answer`.
    private let answer: String
    private let givenAnswers: CommandLineAnswers
    private let known = Locked<Secret?>(nil)

    init(_ answer: String, _ givenAnswers: CommandLineAnswers) {
        self.answer = answer
        self.givenAnswers = givenAnswers
    }

    var source: Passphrase { Passphrase { try await self.secret(isNew: $0) } }

    /// - Parameter isNew: whether the passphrase seals something for the first time.
    func secret(isNew: Bool) async throws -> Secret {
        if let secret = known.withLock(\.self) { return secret }
        let secret = try await ask(isNew)
        guard !secret.isEmpty else {
            throw SettingSourceError("the passphrase (--answer \(answer)) is empty; give a longer one")
        }
        known.withLock { $0 = secret }
        return secret
    }

    private func ask(_ isNew: Bool) async throws -> Secret {
        if let secret = try await givenAnswers.secret(named: answer) { return secret }
        let what = answer == StoreKeyOption.storeAnswer ? "assphrase of the store" : "assphrase"
        guard let secret = try await Terminal.answer("\(isNew ? "New p" : "P")\(what): ", echoes: false) else {
            throw UnansweredError(passphrase: answer)
        }
        // Asks for a new passphrase twice, because a typo would lock the store for good.
        if isNew, !secret.isEmpty, try await Terminal.answer("Repeat the passphrase: ", echoes: false) != secret {
            throw SettingSourceError("the two passphrases differ")
        }
        return secret
    }
}

/// Records whether a store was created with this key, so that the command can report it. An existing file or database may still
/// be empty, which is known only after it is opened.
final class RecordingKeySource: StoreKeySource {
    private let source: any StoreKeySource
    private let isCreated = Locked(false)
    private let failure = Locked(false)

    init(_ source: any StoreKeySource) {
        self.source = source
    }

    var kind: String { source.kind }
    var description: String { source.description }
    /// Whether the key of an existing store could not be obtained.
    var hasLostKey: Bool { failure.withLock(\.self) }
    var hasCreatedStore: Bool { isCreated.withLock(\.self) }

    func isAvailable() async -> Bool { await source.isAvailable() }

    func key(for store: StoreIdentifier, salt: [UInt8], isNew: Bool) async throws -> Secret {
        let key: Secret
        do { key = try await source.key(for: store, salt: salt, isNew: isNew) } catch {
            failure.withLock { $0 = !isNew && error is StorageError }
            throw error
        }
        if isNew { isCreated.withLock { $0 = true } }
        return key
    }

    func count(of store: StoreIdentifier, salt: [UInt8]) async -> UInt64? { await source.count(of: store, salt: salt) }

    func keep(_ count: UInt64, of store: StoreIdentifier, salt: [UInt8], hasRemoved: Bool) async {
        await source.keep(count, of: store, salt: salt, hasRemoved: hasRemoved)
    }
}
