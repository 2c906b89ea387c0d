import NevodHost
import NevodHostSecretService

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
        case "passphrase": return passphrase(answer).source
        case _ where text.hasPrefix("file:") && text != "file:": return KeyFile(path: try absolutePath(String(text.dropFirst(5))))
        case _ where text.hasPrefix("env:") && text != "env:": return EnvironmentKey(variable: String(text.dropFirst(4)))
        default: throw UsageError("\(flag) is secret-service, file:PATH, env:VARIABLE or passphrase")
        }
    }

    func passphrase(_ answer: String) -> AskedPassphrase { AskedPassphrase(answer, given) }

    /// By which `--answer` opens a store that is sealed with one.
    static let ofTheStore = "store-passphrase"
    /// And gives that of a file to write or read, or the new one.
    static let ofTheFile = "passphrase"
}
