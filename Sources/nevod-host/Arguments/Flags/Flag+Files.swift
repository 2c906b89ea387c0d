extension Flag {
    /// Files that bodies are written to: their names, folders, beginnings and dates.
    static let files: [Flag] = [
        Flag(
            .remoteName, "remote-name", "O", in: sending, [.repeatable, .notInProfile],
            help: "Write the body to a file with the last name in the URL's path"),
        Flag(
            .remoteNameAll, "remote-name-all", in: sending,
            help: "As -O for each URL without an -o"),
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
            help: "Ask for the rest from this byte on, and append it to the output file; - for the file's length"),
        Flag(
            .range, "range", "r", value: .text("RANGE"), in: sending,
            help: "Ask for these bytes only: 0-499, 500-, -500"),
        Flag(
            .remoteTime, "remote-time", "R", in: sending,
            help: "Give the output file the date of the response's Last-Modified"),
        Flag(
            .noBuffer, "no-buffer", "N", in: sending,
            help: "Write the body as it comes, which is always so; for lines that were written for curl"),
        Flag(
            .removeOnError, "remove-on-error", in: sending,
            help: "Leave no file behind after a failure, which is always so without -C"),
    ]
}
