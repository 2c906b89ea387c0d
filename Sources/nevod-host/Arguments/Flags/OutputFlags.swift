extension Flag {
    /// The flags for output: what is printed, and the files that are written.
    static let output: [Flag] = [
        Flag(
            .include, "include", "i", in: sending,
            help: "Print the head of each response, and then the last one's body"),
        Flag(
            .headOnly, "head", "I", in: requests,
            help: "Send HEAD and print the response's head; with -X, send another method and don't read the body"),
        Flag(
            .dumpHeader, "dump-header", "D", value: .file("FILE"), in: sending,
            help: "Write the heads of all responses to a file; - for standard output"),
        Flag(
            .output, "output", "o", value: .file("FILE"), in: sending,
            help: "Write the body to a file, which appears when it is complete"),
        Flag(
            .outputDirectory, "output-dir", value: .folder("FOLDER"), in: sending,
            help: "The folder for the files of -o and -O"),
        Flag(
            .fail, "fail", "f", in: sending,
            help:
                "If the status is 400 or higher, print no body and exit with 22, or with 119 if the server refused the credential (401 or 403)"
        ),
        Flag(
            .failWithBody, "fail-with-body", in: sending,
            help: "Like --fail, but print the body; the last of the two counts"),
        Flag(
            .writeOut, "write-out", "w", value: .content("FORMAT", standardInput: .reference), in: sending, .mayBeEmpty,
            help:
                "Print this after each transfer, even a failed one: %{http_code}, %{time_total}, %{json} and curl's other variables; @FILE reads it from a file, @- from standard input"
        ),
        Flag(
            .timing, "timing", in: sending,
            help: "Print on standard error how long each step took"),
        Flag(
            .verbose, "verbose", "v", in: storing, .repeatable,
            help:
                "Print on standard error what happens and what plugins log; credentials are redacted. -vv adds plugins' debug lines and the sensitive details of their errors"
        ),
        Flag(
            .silent, "silent", "s", in: storing,
            help: "Print nothing on standard error; only the exit code reports a failure"),
        Flag(
            .showError, "show-error", "S", in: storing,
            help: "With --silent, still print errors; warnings and progress stay hidden"),
        Flag(
            .noProgressMeter, "no-progress-meter", in: sending,
            help: "Don't show the progress of -o and -T"),
        Flag(
            .progressBar, "progress-bar", "#", in: sending,
            help: "Show the progress of -o and -T as a bar (the default)"),
        Flag(
            .color, "color", value: .text("WHEN"), in: sending,
            help:
                "Format and colour JSON: auto (at a terminal), always, never; without it, NO_COLOR, CLICOLOR_FORCE and CLICOLOR decide"
        ),
        Flag(
            .noPager, "no-pager", in: sending,
            help: "Don't use a pager for what is longer than the screen"),
    ]
}

extension Flag {
    /// Files for response bodies: their names, folders, offsets and dates.
    static let files: [Flag] = [
        Flag(
            .remoteName, "remote-name", "O", in: sending, [.repeatable, .notInProfile],
            help: "Write the body to a file named like the last part of the URL's path"),
        Flag(
            .remoteNameAll, "remote-name-all", in: sending,
            help: "Use -O for each URL without -o"),
        Flag(
            .remoteHeaderName, "remote-header-name", "J", in: sending,
            help: "With -O, use the name that the response gives (Content-Disposition); an existing file is never replaced"),
        Flag(
            .createDirectories, "create-dirs", in: sending,
            help: "Create the folders of an output file"),
        Flag(
            .noClobber, "no-clobber", in: sending,
            help: "Never replace a file: write FILE.1, FILE.2 … instead"),
        Flag(
            .continueAt, "continue-at", "C", value: .text("OFFSET"), in: sending,
            help: "Request the rest from this byte on, and append it to the output file; - for the file's length"),
        Flag(
            .range, "range", "r", value: .text("RANGE"), in: sending,
            help: "Request only these bytes: 0-499, 500-, -500"),
        Flag(
            .remoteTime, "remote-time", "R", in: sending,
            help: "Set the date of the output file to the response's Last-Modified"),
        Flag(
            .noBuffer, "no-buffer", "N", in: sending,
            help: "Changes nothing: the body is always written as it arrives"),
        Flag(
            .removeOnError, "remove-on-error", in: sending,
            help: "Changes nothing: without -C, a failure never leaves a file behind"),
    ]
}

extension Flag {
    /// For all commands.
    static let general: [Flag] = [
        Flag(
            .json, "json", in: [.inspect, .check, .sessions, .store, .profile], storeWords: ["where"],
            help: "Print JSON"),
        Flag(
            .debuggable, "debuggable", in: storing.union([.inspect, .replay]), [.repeatable, .notInProfile],
            help:
                "Let debuggers and core files read this process's memory, secrets included; give it twice if a session store is used"
        ),
        Flag(
            .help, "help", "h", in: everywhere, .notInProfile,
            help: "Print this help"),
        Flag(
            .version, "version", "V", in: everywhere, .notInProfile,
            help: "Print the version"),
    ]
}
