extension Flag {
    /// The request: method, header lines, content.
    static let request: [Flag] = [
        Flag(
            .method, "request", "X", value: .method("METHOD"), in: requests,
            help: "The method (default: GET; POST with data; PUT with -T)"),
        Flag(
            .header, "header", "H", value: .content("LINE", standardInput: .reference), in: requests,
            [.repeatable, .credential],
            help:
                "A header line: \"Name: value\"; \"Name;\" for an empty value; \"Name:\" to leave the line out; @FILE for the lines of a file"
        ),
        Flag(
            .user, "user", "u", value: .text("USER", standardInput: .whole), in: requests.union(lending), .credential,
            help:
                "Basic authentication; USER is a name, to be asked for the password, or env:VARIABLE, file:PATH or - with name:password"
        ),
        Flag(
            .data, "data", "d", value: .content("DATA", standardInput: .reference), in: requests, [.repeatable, .mayBeEmpty],
            help:
                "Send form data; @FILE reads a file without its line breaks, @- reads standard input; several are joined with &"
        ),
        Flag(
            .dataBinary, "data-binary", value: .content("DATA", standardInput: .reference), in: requests,
            [.repeatable, .mayBeEmpty],
            help: "Like -d, but files are sent byte for byte"),
        Flag(
            .dataURLEncode, "data-urlencode", value: .content("DATA", standardInput: .reference), in: requests,
            [.repeatable, .mayBeEmpty],
            help: "Like -d, but percent-encoded: TEXT, =TEXT, NAME=TEXT, @FILE or NAME@FILE"),
        Flag(
            .dataRaw, "data-raw", value: .text("DATA"), in: requests, [.repeatable, .mayBeEmpty],
            help: "Like -d, but @ has no special meaning"),
        Flag(
            .dataASCII, "data-ascii", value: .content("DATA", standardInput: .reference), in: requests,
            [.repeatable, .mayBeEmpty],
            help: "The same as -d"),
        Flag(
            .jsonData, "json", value: .content("DATA", standardInput: .reference), in: requests, [.repeatable, .mayBeEmpty],
            help: "Send JSON and ask for JSON; @FILE reads a file; several are concatenated"),
        Flag(
            .get, "get", "G", in: requests,
            help: "Send the data in the query of a GET request"),
        Flag(
            .urlQuery, "url-query", value: .content("DATA", standardInput: .reference), in: requests,
            [.repeatable, .mayBeEmpty, .credential],
            help: "Add to the query of the URL: DATA as for --data-urlencode, or +TEXT as it is"),
        Flag(
            .form, "form", "F", value: .text("NAME=CONTENT", standardInput: .reference), in: requests, .repeatable,
            help:
                "Send a multipart form; CONTENT is a text, @FILE,FILE to upload files, or <FILE to read a text; ;type=, ;filename=, ;headers= and ;encoder= may follow"
        ),
        Flag(
            .formString, "form-string", value: .text("NAME=TEXT"), in: requests, .repeatable,
            help: "Like -F, but @, < and ; have no special meaning"),
        Flag(
            .formEscape, "form-escape", in: requests,
            help: "Escape quotes in the names of -F with a backslash instead of %22"),
        Flag(
            .asForm, "as-form", in: requests,
            help: "Send the items after the URL as a form instead of JSON"),
        Flag(
            .uploadFile, "upload-file", "T", value: .file("FILE", standardInput: .whole), in: requests,
            help:
                "Upload a file, without reading it into memory; - for standard input; a URL that ends with / gets the file's name"
        ),
        Flag(
            .userAgent, "user-agent", "A", value: .text("NAME"), in: requests.union([.login, .logout]),
            [.mayBeEmpty, .locatesLogin], help: "The program's name in User-Agent; an empty one sends no User-Agent"),
        Flag(
            .referer, "referer", "e", value: .url("URL"), in: requests,
            help: "The URL of the linking page, sent as Referer; with ;auto at its end, redirects update it"),
    ]
}

extension Flag {
    /// Several requests in one command, and flags from a file.
    static let shape: [Flag] = [
        Flag(
            .url, "url", value: .url("URL"), in: requests, [.repeatable, .notInProfile],
            help: "A URL, where a bare word would not be taken for one: in a file of -K, or after an item"),
        Flag(
            .next, "next", ":", in: sending, [.repeatable, .notInProfile],
            help: "Begin another group of URLs, with its own flags"),
        Flag(
            .config, "config", "K", value: .file("FILE", standardInput: .whole), in: requests, [.repeatable, .notInProfile],
            help: "Read flags and URLs from a file in the syntax of curl's config files; - for standard input"),
        Flag(
            .parallel, "parallel", "Z", in: sending,
            help: "Send the requests at the same time; their bodies are printed one after another, in the order of the URLs"),
        Flag(
            .parallelMax, "parallel-max", value: .text("COUNT"), in: sending,
            help: "With -Z, send at most COUNT requests at the same time (default 50)"),
        Flag(
            .failEarly, "fail-early", in: sending,
            help: "Stop after the first request that fails"),
    ]
}

extension Flag {
    /// curl's flags for what is done anyway, so that a curl command with them can be pasted.
    static let pasted: [Flag] = [
        Flag(
            .globOff, "globoff", "g", in: requests,
            help: "Send brackets and braces in the URL as they are, even where curl would expand them"),
        Flag(
            .pathAsIs, "path-as-is", in: requests,
            help: "Changes nothing: dots in the path are always sent as typed"),
        Flag(
            .proto, "proto", value: .text("PROTOCOLS"), in: requests,
            help: "Allow only these protocols, in redirects as well: =https"),
    ]
}
