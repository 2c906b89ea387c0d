extension Flag {
    /// Flags of curl's that name what is done anyway, so that a line with them can be pasted.
    static let pasted: [Flag] = [
        Flag(
            .globOff, "globoff", "g", in: requests,
            help: "Send brackets and braces of the URL as they are, also where curl would expand them"),
        Flag(
            .pathAsIs, "path-as-is", in: requests,
            help: "Send dots in the path as typed, which is always done"),
        Flag(
            .proto, "proto", value: .text("PROTOCOLS"), in: requests,
            help: "Allow only these protocols, also in redirects: =https"),
    ]
}
