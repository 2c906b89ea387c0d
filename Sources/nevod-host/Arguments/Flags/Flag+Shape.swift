extension Flag {
    /// Several requests in one command, and flags from a file.
    static let shape: [Flag] = [
        Flag(
            .url, "url", value: .url("URL"), in: requests, [.repeatable, .notInProfile],
            help: "A URL, for a command line or a file where a word alone would not be taken for one"),
        Flag(
            .next, "next", ":", in: sending, [.repeatable, .notInProfile],
            help: "Begin another group of URLs, with flags of its own"),
        Flag(
            .config, "config", "K", value: .file("FILE", standardInput: .whole), in: requests, [.repeatable, .notInProfile],
            help: "Read flags and URLs from a file in the syntax of curl's config files; - for standard input"),
        Flag(
            .parallel, "parallel", "Z", in: sending,
            help: "Carry out the requests at the same time; their bodies are printed one after another, in the order of the URLs"),
        Flag(
            .parallelMax, "parallel-max", value: .text("COUNT"), in: sending,
            help: "With -Z, carry out at most COUNT requests at the same time (50)"),
        Flag(
            .failEarly, "fail-early", in: sending,
            help: "Send nothing more after the first request that fails"),
    ]
}
