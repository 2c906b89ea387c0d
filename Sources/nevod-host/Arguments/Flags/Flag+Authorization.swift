extension Flag {
    /// The flags that authorize a request: plugin, scheme, settings, profile, account.
    static let authorization: [Flag] = [
        Flag(
            .plugin, "plugin", "p", value: .plugin("NAME"), in: authorizing.union([.replay]), [.locatesLogin, .credential],
            help: "Authorize with this plugin: a path, or a name to look up in the plugin folders"),
        Flag(
            .scheme, "scheme", value: .asked("ID", .scheme), in: authorizing.union([.check]), [.needsPlugin, .locatesLogin],
            help: "The scheme to use, if the plugin has several"),
        Flag(
            .set, "set", value: .asked("NAME=VALUE", .setting, standardInput: .assigned), in: authorizing.union([.check]),
            [.repeatable, .needsPlugin, .locatesLogin, .credential],
            help:
                "A setting of the scheme; VALUE is a text, env:VARIABLE, file:PATH or - for standard input; a secret is never a text"
        ),
        Flag(
            .param, "param", value: .asked("NAME=VALUE", .parameter), in: requests.union(lending).union([.login]),
            [.repeatable, .needsPlugin, .locatesLogin],
            help: "A parameter of the scheme for this request, such as a scope; each set of them has a session of its own"),
        Flag(
            .answer, "answer", value: .text("NAME=SOURCE", standardInput: .assigned), in: storing,
            [.repeatable, .needsPlugin, .credential],
            help:
                "Answer a login's question: env:VARIABLE, file:PATH, - or, unless it is secret, a text; each --answer serves one question"
        ),
        Flag(
            .profile, "profile", value: .profile("PROFILE"), in: storing, [.locatesLogin, .notInProfile],
            help:
                "Take flags and the base of relative URLs from this section of the config file, instead of NEVOD_PROFILE, or of the one for the URL's host; none for no profile"
        ),
        Flag(
            .account, "account", value: .asked("ACCOUNT", .account), in: authorizing, [.mayBeEmpty, .needsPlugin, .locatesLogin],
            help:
                "The account of the session to use, or to log in to, and the name to keep its session under; without it, the only session there is"
        ),
        Flag(
            .profileURL, "url", value: .url("URL"), in: [.profile],
            help: "profile add: the base of the profile's relative URLs; its credential is for this origin"),
        Flag(
            .secretStore, "secret-store", value: .text("STORE"), in: [.profile],
            help:
                "profile add: where to keep a secret that is read from - or asked for: keyring, or file for one of mode 0600"
        ),
        Flag(
            .profileName, "name", value: .text("NAME"), in: [.login], .notInProfile,
            help: "login URL: the name of the profile to write; without it, asked for, or the first label of the host"),
        Flag(
            .yes, "yes", in: [.login], .notInProfile,
            help: "login URL: log in with the settings that are found, and write the profile, without asking"),
        Flag(
            .origin, "origin", value: .url("URL"), in: requests.union(lending).union([.login]),
            [.repeatable, .locatesLogin, .notInProfile],
            help: "Allow the profile's or the session's credential at this origin, too: scheme, host and port of a URL"),
    ]
}
