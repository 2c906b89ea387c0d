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
                "A setting of the scheme; VALUE is a text, env:VARIABLE, file:PATH or - for standard input; a secret can't be a text"
        ),
        Flag(
            .param, "param", value: .asked("NAME=VALUE", .parameter), in: requests.union(lending).union([.login]),
            [.repeatable, .needsPlugin, .locatesLogin],
            help: "A parameter of the scheme for this request, such as a scope; each set of parameters has its own session"),
        Flag(
            .answer, "answer", value: .text("NAME=SOURCE", standardInput: .assigned), in: storing,
            [.repeatable, .needsPlugin, .credential],
            help:
                "Answer a question of the login; SOURCE is env:VARIABLE, file:PATH, - or, unless the answer is secret, a text; each --answer is used once"
        ),
        Flag(
            .profile, "profile", value: .profile("PROFILE"), in: storing, [.locatesLogin, .notInProfile],
            help:
                "Take flags and the base of relative URLs from this section of the config file (default: NEVOD_PROFILE, or the profile for the URL's host); none for no profile"
        ),
        Flag(
            .account, "account", value: .asked("ACCOUNT", .account), in: authorizing, [.mayBeEmpty, .needsPlugin, .locatesLogin],
            help:
                "The account to use or to log in to; its session is stored under this name (default: the only session there is)"
        ),
        Flag(
            .profileURL, "url", value: .url("URL"), in: [.profile],
            help: "profile add: the base of relative URLs; the profile's credential is for this origin"),
        Flag(
            .secretStore, "secret-store", value: .text("STORE"), in: [.profile],
            help:
                "profile add: where to keep a secret that is asked for or read from standard input: keyring, or file (with mode 0600)"
        ),
        Flag(
            .profileName, "name", value: .text("NAME"), in: [.login], .notInProfile,
            help:
                "login URL: the name of the new profile (default: asked for at a terminal, otherwise the first label of the host)"
        ),
        Flag(
            .yes, "yes", in: [.login], .notInProfile,
            help: "login URL: log in with the settings found and write the profile, without asking"),
        Flag(
            .origin, "origin", value: .url("URL"), in: requests.union(lending).union([.login]),
            [.repeatable, .locatesLogin, .notInProfile],
            help: "Allow the credential of the profile or session at this origin, too: scheme, host and port of a URL"),
    ]
}

extension Flag {
    /// The flags for the store of sessions.
    static let sessions: [Flag] = [
        Flag(
            .store, "store", value: .file("PATH"), in: storing, .locatesLogin,
            help:
                "Keep sessions in this file, or at postgresql://USER@HOST/DATABASE, instead of $NEVOD_HOST_STORE or ~/.local/share/nevod-host/sessions.db"
        ),
        Flag(
            .storeKey, "store-key", value: .text("SOURCE"), in: storing, .locatesLogin,
            help:
                "The key of the store: secret-service, file:PATH, passphrase (--answer store-passphrase=SOURCE) or env:VARIABLE; without it, a new store is sealed by the keyring or a key file"
        ),
        Flag(
            .noStore, "no-store", in: requests.union(lending),
            help: "Log in for this command only and store nothing"),
        Flag(
            .newKey, "key", value: .text("SOURCE"), in: [.store], storeWords: ["rekey"],
            help:
                "The new key of the store: secret-service, file:PATH, env:VARIABLE or passphrase (--answer passphrase=SOURCE)"
        ),
        Flag(
            .replace, "replace", in: [.store], storeWords: ["import"],
            help: "Replace existing sessions with imported ones"),
    ]
}

extension Flag {
    /// Credentials that need no plugin, and cookies.
    static let credentials: [Flag] = [
        Flag(
            .bearer, "bearer", value: .text("TOKEN", standardInput: .whole), in: requests.union(lending), .credential,
            alias: "oauth2-bearer",
            help:
                "Send a token as Authorization: Bearer; TOKEN is env:VARIABLE, file:PATH, keyring:NAME, command:PROGRAM or -, never the token itself"
        ),
        Flag(
            .basic, "basic", in: requests,
            help: "Send the user name and password with Basic authentication (the default)"),
        Flag(
            .digest, "digest", in: sending,
            help: "Use Digest authentication when the server asks for it (RFC 7616); the password itself is never sent"),
        Flag(
            .anyAuth, "anyauth", in: sending,
            help: "Ask the server first which authentication it accepts, and prefer Digest to Basic"),
        Flag(
            .netrc, "netrc", "n", in: requests,
            help: "Take the user name and password for the host from ~/.netrc, unless -u is given"),
        Flag(
            .netrcFile, "netrc-file", value: .file("FILE"), in: requests,
            help: "Like --netrc, with this file"),
        Flag(
            .netrcOptional, "netrc-optional", in: requests,
            help: "Like --netrc, without a warning if the file doesn't exist"),
        Flag(
            .cookie, "cookie", "b", value: .content("COOKIES", standardInput: .whole), in: requests,
            [.repeatable, .mayBeEmpty, .credential],
            help:
                "Send cookies: NAME=VALUE; NAME=VALUE, or a file of cookies; with a file, cookies that responses set are sent, too"
        ),
        Flag(
            .cookieJar, "cookie-jar", "c", value: .file("FILE"), in: sending,
            help: "Write the cookies to this file at the end; - for standard output"),
        Flag(
            .junkSessionCookies, "junk-session-cookies", "j", in: requests,
            help: "Ignore session cookies in the file of -b: cookies without an expiry"),
    ]
}

extension Flag {
    /// How to give a credential to another program.
    static let programs: [Flag] = [
        Flag(
            .format, "format", value: .asked("FORMAT", .format), in: [.header], .notInProfile,
            help: "The format of the output: lines, json, netrc, or curl for a file of curl's --config"),
        Flag(
            .descriptor, "fd", value: .text("NUMBER"), in: [.header, .credential], .notInProfile,
            help: "Write to this open file descriptor instead of standard output"),
        Flag(
            .environment, "env", value: .text("NAME"), in: [.run],
            help: "The variable for the token, without the word Bearer (default NEVOD_TOKEN)"),
        Flag(
            .environmentHeader, "env-header", value: .text("NAME"), in: [.run],
            help: "A variable for the whole header line, such as \"Authorization: Bearer …\""),
        Flag(
            .username, "username", value: .text("NAME"), in: [.header, .credential],
            help: "The user name to give with a token, for programs that send the token as a password (default oauth2)"),
    ]
}
