extension Flag {
    /// For all commands.
    static let general: [Flag] = [
        Flag(
            .json, "json", in: [.inspect, .check, .sessions, .store, .profile], storeWords: ["where"],
            help: "Print JSON"),
        Flag(
            .debuggable, "debuggable", in: storing.union([.inspect, .replay]), [.repeatable, .notInProfile],
            help:
                "Let debuggers and core files read this process's memory, secrets included; must be given twice if a store of sessions is used"
        ),
        Flag(
            .help, "help", "h", in: everywhere, .notInProfile,
            help: "Print this help"),
        Flag(
            .version, "version", "V", in: everywhere, .notInProfile,
            help: "Print the version"),
    ]
}
