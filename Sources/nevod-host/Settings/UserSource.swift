import NevodHost
import NevodSupport

/// Reads `-u` and `-U`: a name, to ask for its password, or the source of a name and password. Refuses a password on the command
/// line.
struct UserSource {
    let console: Console

    func credential(_ text: String) throws -> BasicCredential {
        BasicCredential(try userAndPassword(text))
    }

    /// - Parameters:
    ///   - flag: the flag with this value, for messages.
    ///   - prompt: the question, without the name.
    /// - Returns: `name:password`.
    func userAndPassword(_ text: String, flag: String = "-u", prompt: String = "Password of") throws -> Secret {
        if SecretSource.isSource(text) { return try SecretSource(console: console).read(text, what: flag) }
        // `name:` is a name with an empty password. That isn't a secret.
        if let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), text.utf8.index(after: colon) == text.utf8.endIndex {
            return Secret(text)
        }
        try Self.check(text, flag: flag)
        guard let password = try Terminal.askSecret("\(prompt) \(text): ") else {
            throw SettingSourceError(
                "the password of \"\(text)\" is needed and there is no terminal to ask for it; "
                    + "write \(flag) env:VARIABLE, file:PATH or - that hold name:password")
        }
        return Secret(copying: Array("\(text):".utf8) + password.withUnsafeBytes { Array($0) })
    }
}
