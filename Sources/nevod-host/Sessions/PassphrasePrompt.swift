import NevodHost
import NevodSupport

/// Asks for a passphrase once for each command, however often a store needs it.
final class PassphrasePrompt: Sendable {
    /// The name of its `--answer`.
    private let answer: String
    private let givenAnswers: CommandLineAnswers
    private let known = Locked<Secret?>(nil)

    init(_ answer: String, _ givenAnswers: CommandLineAnswers) {
        self.answer = answer
        self.givenAnswers = givenAnswers
    }

    var source: Passphrase { Passphrase { try await self.secret(isNew: $0) } }

    /// - Parameter isNew: whether it seals something for the first time.
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
        // A new passphrase is asked for twice, because a typo would lock the store for good.
        if isNew, !secret.isEmpty, try await Terminal.answer("Repeat the passphrase: ", echoes: false) != secret {
            throw SettingSourceError("the two passphrases differ")
        }
        return secret
    }
}
