extension Flag {
    /// Credentials that need no plugin, and cookies.
    static let credentials: [Flag] = [
        Flag(
            .bearer, "bearer", value: .text("TOKEN", standardInput: .whole), in: requests.union(lending), .credential,
            alias: "oauth2-bearer",
            help:
                "Send a token as Authorization: Bearer; TOKEN is env:VARIABLE, file:PATH, keyring:NAME, command:PROGRAM or -, and never the token itself"
        ),
        Flag(
            .basic, "basic", in: requests,
            help: "Send name and password as Basic, which is the default"),
        Flag(
            .digest, "digest", in: sending,
            help: "Send the name and a digest of the password, when the server asks for it (RFC 7616)"),
        Flag(
            .anyAuth, "anyauth", in: sending,
            help: "Ask the server first, and prefer Digest to Basic"),
        Flag(
            .netrc, "netrc", "n", in: requests,
            help: "Take name and password for the host from ~/.netrc if there is no -u"),
        Flag(
            .netrcFile, "netrc-file", value: .file("FILE"), in: requests,
            help: "Take them from this file"),
        Flag(
            .netrcOptional, "netrc-optional", in: requests,
            help: "The same as --netrc, without a warning if there is no such file"),
        Flag(
            .cookie, "cookie", "b", value: .content("COOKIES", standardInput: .whole), in: requests,
            [.repeatable, .mayBeEmpty, .credential],
            help: "Send cookies: NAME=VALUE; NAME=VALUE, or a file of cookies, which also keeps those that responses set"),
        Flag(
            .cookieJar, "cookie-jar", "c", value: .file("FILE"), in: sending,
            help: "Write the cookies to this file at the end; - for standard output"),
        Flag(
            .junkSessionCookies, "junk-session-cookies", "j", in: requests,
            help: "Leave out cookies of the file of -b that have no expiry"),
    ]
}
