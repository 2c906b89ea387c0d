import Glibc

/// A parser of bytes from outside, and the rules for everything that it accepts.
struct Fuzzer: Sendable {
    let name: String
    /// Whether an input's time must grow linearly with its size, and not with its square.
    let isLinear: Bool
    let run: @Sendable (Input) -> Void

    init(_ name: String, isLinear: Bool = true, _ run: @escaping @Sendable (Input) -> Void) {
        self.name = name
        self.isLinear = isLinear
        self.run = run
    }

    /// Each has a folder with its name in Corpus, and may have a file with its name in Dictionaries.
    static let all: [Fuzzer] = [
        url, location, headers, redirect, cachedResponse, setCookie, cookieFile, challenge, date, link, json, form, html, config,
        recipe, recipeRequest, value, rows, export, library, checkReply, checkJob, terminal, records, jwt, structuredField, time,
        canonical,
        key, recording, flagFile, item, disposition, gitCredential, execCredential, configEdit, commandWords,
        writeOut, netrc, cookieInput, digest, refusal, oauth, oauthToken, oauthMetadata, oauthResponse, preset,
        cookieSign, formBody,
    ]
}

/// The bytes of one run. They are in a block of exactly their size, so that AddressSanitizer finds a read beyond them.
struct Input {
    var bytes: UnsafeRawBufferPointer

    var array: [UInt8] { Array(bytes) }
    var text: String { String(decoding: bytes, as: UTF8.self) }
    var lines: [String] {
        bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Removes and returns the first byte, or returns 0 at the end.
    mutating func byte() -> UInt8 {
        guard let first = bytes.first else { return 0 }
        bytes = UnsafeRawBufferPointer(rebasing: bytes[1...])
        return first
    }

    /// Removes and returns bytes, fewer at the end.
    mutating func take(_ count: Int) -> [UInt8] {
        let taken = bytes.prefix(count)
        bytes = UnsafeRawBufferPointer(rebasing: bytes[taken.count...])
        return Array(taken)
    }

    mutating func integer() -> Int64 {
        take(8).reduce(0) { $0 << 8 | Int64($1) }
    }
}

/// Reports the rule if it doesn't hold.
func expect(_ holds: Bool, _ rule: @autoclosure () -> String) {
    if !holds { BrokenRule.report(rule()) }
}

enum BrokenRule {
    /// Ends the process, and libFuzzer reports that with the input. A test replaces this to record the rule and go on.
    @TaskLocal static var report: @Sendable (String) -> Void = { rule in
        let line = "broken rule: \(rule)\n"
        write(2, line, line.utf8.count)
        abort()
    }
}
