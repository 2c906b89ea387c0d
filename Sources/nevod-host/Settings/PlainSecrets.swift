import NevodHost
import NevodSupport

// Refuses a secret that is typed as text, since every process on the machine can read the command line of every other. Each flag
// takes the source of its secret instead: see ``SecretSource``.

/// `--set`
extension SettingSource {
    /// Refuses secret settings that give the value itself instead of a source.
    func refusePlainSecrets(_ given: [String]) throws {
        for (name, source) in try given.map(Self.parts) { try refusePlain(name, source) }
    }

    /// Refuses a secret setting whose value is the text itself. `--set api-key=demo` is fine if the key isn't a secret.
    func refusePlain(_ name: String, _ source: String) throws(SettingSourceError) {
        guard !SecretSource.isSource(source), scheme.settings.contains(where: { $0.name == name && $0.isSecret }) else { return }
        throw SettingSourceError(
            "the setting \"\(name)\" is a secret, and a command line can be read by other processes; "
                + "write --set \(name)=env:VARIABLE, file:PATH or -, or leave it out to be asked")
    }
}

/// `-u`, `-U`
extension UserSource {
    /// Refuses `name:password`. A name alone, or with an empty password, isn't a secret.
    static func check(_ text: String, flag: String = "-u") throws(UsageError) {
        guard !SecretSource.isSource(text), let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")),
            text.utf8.index(after: colon) != text.utf8.endIndex
        else { return }
        throw UsageError(
            "\(flag) contains a password, and a command line can be read by other processes; "
                + "write \(flag) NAME to be asked, or \(flag) env:VARIABLE, file:PATH or - that hold name:password")
    }
}

/// `--bearer`
extension RequestCredentials {
    /// Refuses the token itself.
    func checkToken(_ source: String) throws(UsageError) {
        guard SecretSource.isSource(source) else {
            throw UsageError(
                "--bearer is given a token, and a command line can be read by other processes; "
                    + "write --bearer env:VARIABLE, file:PATH, keyring:NAME, command:PROGRAM or -")
        }
    }
}

/// `--proxy`
extension SessionBuilder {
    /// Refuses a URL with a name and a password.
    func checkProxy(_ url: String) throws(UsageError) {
        guard !url.utf8.contains(UInt8(ascii: "@")) else {
            throw UsageError(
                "--proxy contains credentials, and a command line can be read by other processes; "
                    + "write --proxy-user NAME to be asked, or --proxy-user env:VARIABLE, or set https_proxy or http_proxy")
        }
    }
}

/// `--answer`
extension SettingSourceError {
    init(secretAnswer name: String) {
        self.init(
            "the answer \"\(name)\" is a secret, and a command line can be read by other processes; write "
                + "--answer \(ShellWord.quoted(name))=env:VARIABLE, file:PATH or -, or leave it out to be asked")
    }
}
