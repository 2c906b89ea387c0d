import NevodHost
import NevodHostSecretService

/// The key of a store as flags name it: `secret-service`, `file:PATH`, `env:VARIABLE` or `passphrase`.
struct StoreKeyOption {
    let console: Console
    let givenAnswers: CommandLineAnswers

    /// - Parameters:
    ///   - flag: the flag that it was given with, for errors.
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

    func passphrase(_ answer: String) -> PassphrasePrompt { PassphrasePrompt(answer, givenAnswers) }

    /// The name of the `--answer` that opens a store sealed with a passphrase.
    static let storeAnswer = "store-passphrase"
    /// The name of the `--answer` for the passphrase of an exported file, or for a new one.
    static let fileAnswer = "passphrase"
}
