import NevodHost
import NevodHostSecretService
import NevodSupport

/// What seals a store, as it is said at the command line: `secret-service`, `file:PATH`, `env:VARIABLE` or `passphrase`.
struct StoreKeyOption {
    let console: Console
    let given: GivenAnswers

    /// - Parameters:
    ///   - flag: that it was given with.
    ///   - answer: the name by which `--answer` gives a passphrase.
    func source(_ text: String, _ flag: String, answer: String) throws -> any StoreKeySource {
        switch text {
        case "secret-service": return SecretServiceKey()
        case "passphrase": return passphrase(answer)
        case _ where text.hasPrefix("file:") && text != "file:": return KeyFile(path: try absolutePath(String(text.dropFirst(5))))
        case _ where text.hasPrefix("env:") && text != "env:": return EnvironmentKey(variable: String(text.dropFirst(4)))
        default: throw UsageError("\(flag) is secret-service, file:PATH, env:VARIABLE or passphrase")
        }
    }

    /// Asked for twice when it is a new one: a slip would lock the store for good.
    func passphrase(_ answer: String) -> Passphrase {
        let given = given
        // A store asks again each time that it opens its key.
        let known = Locked<Secret?>(nil)
        return Passphrase { isNew in
            if let secret = known.withLock(\.self) { return secret }
            let secret = try await Self.passphrase(answer, isNew, given)
            known.withLock { $0 = secret }
            return secret
        }
    }

    private static func passphrase(_ answer: String, _ isNew: Bool, _ given: GivenAnswers) async throws -> Secret {
        if let secret = try await given.secret(named: answer) { return secret }
        let what = answer == ofTheStore ? "assphrase of the store" : "assphrase"
        guard let secret = try await Terminal.answer("\(isNew ? "New p" : "P")\(what): ", echoes: false) else {
            throw UnansweredError(passphrase: answer)
        }
        if isNew, try await Terminal.answer("The same again: ", echoes: false) != secret {
            throw SettingSourceError("the two passphrases differ")
        }
        return secret
    }

    /// By which `--answer` opens a store that is sealed with one.
    static let ofTheStore = "store-passphrase"
    /// And gives that of a file to write or read, or the new one.
    static let ofTheFile = "passphrase"
}
