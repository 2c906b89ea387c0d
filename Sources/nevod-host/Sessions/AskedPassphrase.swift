import NevodHost
import NevodSupport

/// A passphrase that somebody gives once in a command, however often a store asks for it.
final class AskedPassphrase: Sendable {
    /// The name by which `--answer` gives it.
    private let answer: String
    private let given: GivenAnswers
    private let known = Locked<Secret?>(nil)

    init(_ answer: String, _ given: GivenAnswers) {
        self.answer = answer
        self.given = given
    }

    var source: Passphrase { Passphrase { try await self.secret(isNew: $0) } }

    /// - Parameter isNew: whether something is to be sealed with it for the first time.
    func secret(isNew: Bool) async throws -> Secret {
        if let secret = known.withLock(\.self) { return secret }
        let secret = try await ask(isNew)
        guard !secret.isEmpty else {
            throw SettingSourceError("the passphrase (--answer \(answer)) is empty; give one that is not")
        }
        known.withLock { $0 = secret }
        return secret
    }

    private func ask(_ isNew: Bool) async throws -> Secret {
        if let secret = try await given.secret(named: answer) { return secret }
        let what = answer == StoreKeyOption.ofTheStore ? "assphrase of the store" : "assphrase"
        guard let secret = try await Terminal.answer("\(isNew ? "New p" : "P")\(what): ", echoes: false) else {
            throw UnansweredError(passphrase: answer)
        }
        // Twice, when it is a new one: a slip would lock the store for good.
        if isNew, !secret.isEmpty, try await Terminal.answer("The same again: ", echoes: false) != secret {
            throw SettingSourceError("the two passphrases differ")
        }
        return secret
    }
}
