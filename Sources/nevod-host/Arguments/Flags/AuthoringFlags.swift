extension Flag {
    /// For authors of schemes.
    static let authoring: [Flag] = [
        Flag(
            .language, "language", value: .language("LANGUAGE"), in: [.new],
            help: "The language of the new scheme: swift, c, cpp, rust or go"),
        Flag(
            .flow, "flow", in: [.new],
            help: "Create a scheme with a login, a refresh and a logout"),
        Flag(
            .kit, "kit", value: .folder("SOURCE"), in: [.new],
            help:
                "The kit for a scheme in Swift: URL#TAG, URL#REVISION, or the folder of an installed copy or a checkout (default: the copy installed with this program)"
        ),
        Flag(
            .only, "only", value: .text("REGEX"), in: [.check],
            help: "Run only checks with an id that matches this extended regular expression"),
        Flag(
            .skip, "skip", value: .text("REGEX"), in: [.check],
            help: "Skip checks with an id that matches this extended regular expression"),
        Flag(
            .seed, "seed", value: .text("NUMBER"), in: [.check],
            help: "Repeat the random cases of the run that printed this number"),
        Flag(
            .fuzz, "fuzz", value: .text("SECONDS"), in: [.check],
            help: "Try random inputs as well, for this long in each fuzzing check"),
        Flag(
            .timeout, "timeout", value: .text("SECONDS"), in: [.check],
            help: "Stop a check that takes longer (default 10)"),
        Flag(
            .list, "list", in: [.check],
            help: "Print the ids and meanings of all checks, and run none"),
        Flag(
            .junit, "junit", value: .file("FILE"), in: [.check],
            help: "Write the results as JUnit XML as well; - for standard output, in place of the text"),
        Flag(
            .curl, "curl", in: [.sign],
            help: "Print a curl command that sends the request"),
        Flag(
            .at, "at", value: .text("TIME"), in: [.sign], [.needsPlugin, .notInProfile],
            help: "The time that the plugin sees: 2026-01-31T12:00:00Z, or seconds since 1970; fractions are allowed"),
        Flag(
            .random, "random", value: .text("HEX"), in: [.sign], [.needsPlugin, .notInProfile],
            help:
                "The 32 random bytes that the plugin gets in each call: 64 hexadecimal digits, or fewer that end with ... and are repeated"
        ),
        Flag(
            .explain, "explain", in: [.sign], [.needsPlugin, .notInProfile],
            help: "Print each step of the signature to standard error, if the scheme has the setting explain"),
        Flag(
            .nonce, "nonce", value: .text("VALUE"), in: [.sign], [.needsPlugin, .notInProfile],
            help: "The nonce of the signature, if the scheme has the setting nonce"),
        Flag(
            .keepSecrets, "keep-secrets", in: [.record],
            help: "Record secrets as they are, for plugins that behave differently with placeholders"),
        Flag(
            .force, "force", in: [.record, .profile],
            help: "Replace an existing file, or remove a profile without asking"),
    ]
}
