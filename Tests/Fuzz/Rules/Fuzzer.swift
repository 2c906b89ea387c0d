import Glibc

/// A parser of bytes from outside, and the rules for everything that it accepts.
struct Fuzzer: Sendable {
    let name: String
    /// Whether the time that an input takes must grow with its size, and not with the square of it.
    let isLinear: Bool
    let run: @Sendable (Input) -> Void

    init(_ name: String, isLinear: Bool = true, _ run: @escaping @Sendable (Input) -> Void) {
        self.name = name
        self.isLinear = isLinear
        self.run = run
    }

    /// Each has a folder of its name in Corpus, and perhaps a file of its name in Dictionaries.
    static let all: [Fuzzer] = [
        url, location, headers, redirect, cachedResponse, setCookie, cookieFile, challenge, date, link, json, form, html, config,
        recipe, recipeRequest, value, rows, export, library, checkReply, checkJob, terminal, records, jwt, structuredField, time,
        canonical,
        key, recording, flagFile, item, disposition, gitCredential, execCredential, configEdit, commandWords,
        writeOut, netrc, cookieInput, digest, refusal, oauth, oauthToken, oauthMetadata, oauthResponse, preset,
        cookieSign, formBody,
    ]
}

/// The bytes of one run. They are in a block of exactly their size, so that AddressSanitizer finds a read behind them.
struct Input {
    var bytes: UnsafeRawBufferPointer

    var array: [UInt8] { Array(bytes) }
    var text: String { String(decoding: bytes, as: UTF8.self) }
    var lines: [String] {
        bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Takes the first byte away; 0 at the end.
    mutating func byte() -> UInt8 {
        guard let first = bytes.first else { return 0 }
        bytes = UnsafeRawBufferPointer(rebasing: bytes[1...])
        return first
    }

    /// Takes bytes away, fewer at the end.
    mutating func take(_ count: Int) -> [UInt8] {
        let taken = bytes.prefix(count)
        bytes = UnsafeRawBufferPointer(rebasing: bytes[taken.count...])
        return Array(taken)
    }

    mutating func integer() -> Int64 {
        take(8).reduce(0) { $0 << 8 | Int64($1) }
    }
}

/// Reports a rule unless it holds.
func expect(_ holds: Bool, _ rule: @autoclosure () -> String) {
    if !holds { BrokenRule.report(rule()) }
}

enum BrokenRule {
    /// Ends the process, which libFuzzer reports with the input. A test replaces it, notes the rule, and goes on.
    @TaskLocal static var report: @Sendable (String) -> Void = { rule in
        let line = "broken rule: \(rule)\n"
        write(2, line, line.utf8.count)
        abort()
    }
}
