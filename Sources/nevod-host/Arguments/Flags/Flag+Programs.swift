extension Flag {
    /// How a credential is given to another program.
    static let programs: [Flag] = [
        Flag(
            .format, "format", value: .asked("FORMAT", .format), in: [.header], .notInProfile,
            help: "lines, json, netrc, or curl for a file of curl's --config"),
        Flag(
            .descriptor, "fd", value: .text("NUMBER"), in: [.header, .credential], .notInProfile,
            help: "Write to this open descriptor instead of standard output"),
        Flag(
            .environment, "env", value: .text("NAME"), in: [.run],
            help: "The variable for the token, without the word Bearer (NEVOD_TOKEN)"),
        Flag(
            .environmentHeader, "env-header", value: .text("NAME"), in: [.run],
            help: "A variable for the whole line, such as \"Authorization: Bearer …\""),
        Flag(
            .username, "username", value: .text("NAME"), in: [.header, .credential],
            help: "The user name beside a token, for programs that send it as a password (oauth2)"),
    ]
}
