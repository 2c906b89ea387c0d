extension Flag {
    /// The flags for the course of a request: redirects, retries, limits.
    static let transfer: [Flag] = [
        Flag(
            .location, "location", "L", in: sending,
            help: "Follow redirects; credentials stay at the origin they are meant for"),
        Flag(
            .maxRedirects, "max-redirs", value: .text("COUNT"), in: sending,
            help: "Follow at most COUNT redirects (10)"),
        Flag(
            .retry, "retry", value: .text("COUNT"), in: sending,
            help: "Retry up to COUNT times after a transient failure: no connection, a timeout, 408, 429, 500, 502, 503, 504"),
        Flag(
            .retryDelay, "retry-delay", value: .text("SECONDS"), in: sending,
            help: "Wait so long before each retry, instead of 1, 2, 4 … s; 0 for those. A longer Retry-After counts"),
        Flag(
            .retryMaxTime, "retry-max-time", value: .text("SECONDS"), in: sending,
            help: "Begin no retry later than this after the first attempt; 0 for no limit"),
        Flag(
            .retryConnectionRefused, "retry-connrefused", in: sending,
            help: "Changes nothing: --retry retries a refused connection anyway"),
        Flag(
            .retryAllErrors, "retry-all-errors", in: sending,
            help: "With --retry: also after failures that aren't transient, such as an untrusted certificate"),
        Flag(
            .compressed, "compressed", in: sending,
            help: "Ask for a compressed response and decompress it"),
        Flag(
            .maxTime, "max-time", "m", value: .text("SECONDS"), in: sending,
            help: "Give up after this time; fractions are allowed"),
        Flag(
            .maxFileSize, "max-filesize", value: .text("BYTES"), in: sending,
            help: "Give up on a response body that is larger"),
        Flag(
            .connectTimeout, "connect-timeout", value: .text("SECONDS"), in: authorizing, .locatesLogin,
            help: "Give up when no connection is established within this time (30)"),
    ]
}
