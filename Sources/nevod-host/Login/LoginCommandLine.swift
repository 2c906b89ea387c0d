import NevodHost

/// The command that logs in with the scheme of some arguments.
enum LoginCommandLine {
    /// Returns the command with the flags that were typed; a profile brings the others. The text contains no secrets, because flags
    /// accept only sources of secrets.
    static func text(_ arguments: Arguments) -> String {
        var words = ["nevod-host", "login"]
        for (name, value) in arguments.typed {
            guard let flag = Flag.all.first(where: { $0.name == name }), flag.locatesLogin else { continue }
            words += ["--\(flag.long)", ShellWord.quoted(value)]
        }
        return words.joined(separator: " ")
    }
}
