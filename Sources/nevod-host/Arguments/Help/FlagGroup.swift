/// The flags of one topic: a file in `Flags`, a section of the help and of the manual page.
struct FlagGroup: Sendable {
    /// The word for `help`.
    let name: String
    let title: String
    let flags: [Flag]

    static let all = [
        FlagGroup(name: "authorization", title: "Authorization", flags: Flag.authorization),
        FlagGroup(name: "sessions", title: "Sessions", flags: Flag.sessions),
        FlagGroup(name: "shape", title: "Several requests, and flags from a file", flags: Flag.shape),
        FlagGroup(name: "request", title: "The request", flags: Flag.request),
        FlagGroup(name: "credentials", title: "Credentials without a plugin, and cookies", flags: Flag.credentials),
        FlagGroup(name: "transfer", title: "Redirects, retries and limits", flags: Flag.transfer),
        FlagGroup(name: "output", title: "Output", flags: Flag.output),
        FlagGroup(name: "files", title: "Files that bodies are written to", flags: Flag.files),
        FlagGroup(name: "connection", title: "Connection: proxy and TLS", flags: Flag.connection),
        FlagGroup(name: "pasted", title: "Of curl's lines", flags: Flag.pasted),
        FlagGroup(name: "programs", title: "Credentials for other programs", flags: Flag.programs),
        FlagGroup(name: "authoring", title: "For authors of plugins", flags: Flag.authoring),
        FlagGroup(name: "general", title: "For all commands", flags: Flag.general),
    ]
}
