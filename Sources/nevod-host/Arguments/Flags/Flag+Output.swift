extension Flag {
    /// The flags for output: what is printed, and the files that are written.
    static let output: [Flag] = [
        Flag(
            .include, "include", "i", in: sending,
            help: "Print the head of each response before the last one's body"),
        Flag(
            .headOnly, "head", "I", in: requests,
            help: "Send HEAD, and print the response's head; with -X another method, whose body is not read"),
        Flag(
            .dumpHeader, "dump-header", "D", value: .file("FILE"), in: sending,
            help: "Write the heads of all responses to a file; - for standard output"),
        Flag(
            .output, "output", "o", value: .file("FILE"), in: sending,
            help: "Write the body to a file, which appears when it is complete"),
        Flag(
            .outputDirectory, "output-dir", value: .folder("FOLDER"), in: sending,
            help: "The folder of --output"),
        Flag(
            .fail, "fail", "f", in: sending,
            help:
                "Exit with 22 and print no body when the status is 400 or higher; with 119 when the server refused the credential, 401 or 403"
        ),
        Flag(
            .failWithBody, "fail-with-body", in: sending,
            help: "As --fail, but print the body; the last of the two counts"),
        Flag(
            .writeOut, "write-out", "w", value: .content("FORMAT", standardInput: .reference), in: sending, .mayBeEmpty,
            help:
                "Print this after each transfer, also a failed one: %{http_code}, %{time_total}, %{json} and curl's other variables; @FILE reads it, @- from standard input"
        ),
        Flag(
            .timing, "timing", in: sending,
            help: "Print on standard error how long each step took"),
        Flag(
            .verbose, "verbose", "v", in: storing, .repeatable,
            help:
                "Print on standard error what happens, and what plugins log; credentials are redacted. Twice (-vv), also a plugin's lines for debugging and the sensitive detail of its error"
        ),
        Flag(
            .silent, "silent", "s", in: storing,
            help: "Print nothing on standard error; only the exit code reports a failure"),
        Flag(
            .showError, "show-error", "S", in: storing,
            help: "With --silent, print errors all the same; warnings and progress stay hidden"),
        Flag(
            .noProgressMeter, "no-progress-meter", in: sending,
            help: "Show no progress of -o and -T"),
        Flag(
            .progressBar, "progress-bar", "#", in: sending,
            help: "Show the progress of -o and -T as a bar, which is the default"),
        Flag(
            .color, "color", value: .text("WHEN"), in: sending,
            help:
                "Format and colour JSON: auto (at a terminal), always, never; without it, NO_COLOR, CLICOLOR_FORCE and CLICOLOR decide"
        ),
        Flag(
            .noPager, "no-pager", in: sending,
            help: "Show what is longer than the terminal without a pager"),
    ]
}
