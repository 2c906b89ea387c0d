import NevodHost
import NevodSupport

/// The command that logs in with the scheme of some arguments.
enum LoginCommandLine {
    /// Returns the command with the flags that were typed; a profile supplies the others. The text contains no secrets, because
    /// flags accept only sources of secrets.
    ///
    /// - Parameter origins: further origins that the session should be for.
    static func text(_ arguments: Arguments, adding origins: [Origin] = []) -> String {
        var words = ["nevod-host", "login"]
        // The URL or the environment chose the profile, and the login command may have neither.
        if !arguments.typed.contains(where: { $0.name == .profile }), let profile = arguments.profile {
            words += ["--profile", ShellWord.quoted(profile.name)]
        }
        for flag in Flag.all where flag.locatesLogin && arguments.undone.contains(flag.name) { words.append("--no-\(flag.long)") }
        for (name, value) in arguments.typed {
            guard let flag = Flag.all.first(where: { $0.name == name }), flag.locatesLogin else { continue }
            // The config file says which origins a profile's sessions are for.
            if name == .origin, arguments.profile != nil { continue }
            words += ["--\(flag.long)", ShellWord.quoted(value)]
        }
        for origin in origins { words += ["--origin", ShellWord.quoted(origin.description)] }
        return words.joined(separator: " ")
    }
}
