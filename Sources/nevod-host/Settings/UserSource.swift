import NevodHost

/// Reads `-u`: a name whose password is asked for, or the source of name and password. A password on the command line is refused.
struct UserSource {
    let console: Console

    func credential(_ text: String) throws -> BasicCredential {
        for prefix in ["env:", "file:"] where text.hasPrefix(prefix) {
            return BasicCredential(try SecretSource(console: console).read(text, what: "-u"))
        }
        if text == "-" { return BasicCredential(try SecretSource(console: console).read(text, what: "-u")) }
        guard !text.utf8.contains(UInt8(ascii: ":")) else {
            throw UsageError(
                "-u contains a password, and a command line can be read by other processes; "
                    + "write -u NAME to be asked, or -u env:VARIABLE, file:PATH or - that hold name:password")
        }
        guard let password = try Terminal.askSecret("Password of \(text): ") else {
            throw SettingSourceError(
                "the password of \"\(text)\" is needed and there is no terminal to ask for it; "
                    + "write -u env:VARIABLE, file:PATH or - that hold name:password")
        }
        return BasicCredential(Secret(copying: Array("\(text):".utf8) + password.withUnsafeBytes { Array($0) }))
    }
}
