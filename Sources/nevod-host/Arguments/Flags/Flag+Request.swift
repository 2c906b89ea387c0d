extension Flag {
    /// The request: method, header lines, content.
    static let request: [Flag] = [
        Flag(
            .method, "request", "X", value: .method("METHOD"), in: requests,
            help: "The method; without it GET, or POST with data, or PUT with -T"),
        Flag(
            .header, "header", "H", value: .content("LINE", standardInput: .reference), in: requests,
            [.repeatable, .credential],
            help: "\"Name: value\"; \"Name;\" for an empty value; \"Name:\" to leave a line out; @FILE for lines of a file"),
        Flag(
            .user, "user", "u", value: .text("USER", standardInput: .whole), in: requests.union(lending), .credential,
            help:
                "Basic authentication; USER is a name whose password is asked for, or env:VARIABLE, file:PATH or - for name:password"
        ),
        Flag(
            .data, "data", "d", value: .content("DATA", standardInput: .reference), in: requests, [.repeatable, .mayBeEmpty],
            help: "Send a form; @FILE reads a file without its line breaks, @- standard input; several are joined with &"),
        Flag(
            .dataBinary, "data-binary", value: .content("DATA", standardInput: .reference), in: requests,
            [.repeatable, .mayBeEmpty],
            help: "The same, byte for byte"),
        Flag(
            .dataURLEncode, "data-urlencode", value: .content("DATA", standardInput: .reference), in: requests,
            [.repeatable, .mayBeEmpty],
            help: "The same, percent-encoded: TEXT, =TEXT, NAME=TEXT, @FILE or NAME@FILE"),
        Flag(
            .dataRaw, "data-raw", value: .text("DATA"), in: requests, [.repeatable, .mayBeEmpty],
            help: "The same as -d, but @ has no meaning"),
        Flag(
            .dataASCII, "data-ascii", value: .content("DATA", standardInput: .reference), in: requests,
            [.repeatable, .mayBeEmpty],
            help: "The same as -d"),
        Flag(
            .jsonData, "json", value: .content("DATA", standardInput: .reference), in: requests, [.repeatable, .mayBeEmpty],
            help: "Send JSON and ask for JSON; @FILE reads a file; several are joined as they are"),
        Flag(
            .get, "get", "G", in: requests,
            help: "Put the data into the query of a GET"),
        Flag(
            .urlQuery, "url-query", value: .content("DATA", standardInput: .reference), in: requests,
            [.repeatable, .mayBeEmpty, .credential],
            help: "Add to the query of the URL: as --data-urlencode, or +TEXT as it is"),
        Flag(
            .form, "form", "F", value: .text("NAME=CONTENT", standardInput: .reference), in: requests, .repeatable,
            help:
                "Send a multipart form; @FILE,FILE uploads files, <FILE reads one; ;type=, ;filename=, ;headers= and ;encoder= may follow"
        ),
        Flag(
            .formString, "form-string", value: .text("NAME=TEXT"), in: requests, .repeatable,
            help: "The same as -F, but @, < and ; have no meaning in the text"),
        Flag(
            .formEscape, "form-escape", in: requests,
            help: "Write quotes in the names of -F with a backslash, and not as %22"),
        Flag(
            .asForm, "as-form", in: requests,
            help: "Send the items behind the URL as a form instead of JSON"),
        Flag(
            .uploadFile, "upload-file", "T", value: .file("FILE", standardInput: .whole), in: requests,
            help: "Send a file while reading it; - for standard input; a URL that ends with / gets the file's name"),
        Flag(
            .userAgent, "user-agent", "A", value: .text("NAME"), in: requests.union([.login, .logout]),
            [.mayBeEmpty, .locatesLogin], help: "The name of the program, in User-Agent; an empty one for none"),
        Flag(
            .referer, "referer", "e", value: .url("URL"), in: requests,
            help: "The URL of the page that links here, in Referer; with ;auto behind it, redirects set it anew"),
    ]
}
