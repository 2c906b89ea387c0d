internal import Glibc
import NevodSupport
internal import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

struct LoggerTests {
    @Test func `A message of an ignored level is not formatted`() {
        let logger: any NetworkLogger = CollectingLogger(minimum: .warning)
        var built: [LogLevel] = []
        func text(_ level: LogLevel) -> String {
            built.append(level)
            return "\(level)"
        }
        func metadata() -> LogMetadata {
            built.append(.debug)
            return ["a": "b"]
        }
        logger.debug(text(.debug), metadata())
        logger.info(text(.info), metadata())
        logger.notice(text(.notice))
        #expect(built.isEmpty)
        logger.warning(text(.warning))
        logger.error(text(.error))
        logger.log(.error, text(.error), metadata())
        #expect(built == [.warning, .error, .error, .debug])
        #expect((logger as? CollectingLogger)?.entries.map(\.message) == ["warning", "error", "error"])
    }

    @Test func `Metadata keeps its order, and names may repeat`() {
        var metadata: LogMetadata = ["b": "1", "a": "2", "b": "3"]
        metadata.append("a", "4")
        #expect(metadata.pairs.map { "\($0.name)\($0.value)" } == ["b1", "a2", "b3", "a4"])
        #expect(metadata["b"] == "1")
        #expect(LogLevel.allCases == LogLevel.allCases.sorted())
    }

    private static let lines: [(message: String, metadata: LogMetadata, line: String)] = [
        ("plain", [:], "plain"),
        ("a\nb", ["c": "d\r\ne"], "a\\u{a}b c=d\\u{d}\\u{a}e"),
        ("\u{1b}]0;x\u{7}\u{9b}31m", ["k": "\u{202e}"], "\\u{1b}]0;x\\u{7}\\u{9b}31m k=\\u{202e}"),
        ("nul\0here", [:], "nul\\u{0}here"),
        ("m", ["a": "", "b": "x y", "c": "q\"q\\", "d": "e=f", "g h": "ü"], #"m a="" b="x y" c="q\"q\\" d="e=f" "g h"=ü"#),
        ("%s %n", ["p": "%d"], "%s %n p=%d"),
    ]

    @Test(arguments: lines)
    func `A log entry is one line, for any text`(message: String, metadata: LogMetadata, line: String) {
        #expect(LogLine.text(message, metadata) == line)
    }

    @Test func `A long line is cut between characters`() {
        let line = LogLine.text("x" + String(repeating: "é", count: 40_000), [:])
        #expect(line.hasPrefix("xéé") && line.hasSuffix("é[… 47233 bytes more]"))
        #expect(line.utf8.count < 33_000)
    }

    @Test(
        arguments: [
            (1_767_225_600_123_456_789, "2026-01-01T00:00:00.123Z"), (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999_999_999, "2000-02-28T23:59:59.999Z"), (-1, "1969-12-31T23:59:59.999Z"),
        ] as [(Int64, String)])
    func `Times are written as in RFC 3339`(nanoseconds: Int64, text: String) {
        #expect(UnixTime(nanoseconds: nanoseconds).rfc3339 == text)
    }

    @Test func `Entries are written to standard error`() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let logger = StandardErrorLogger(minimum: .info, clock: .fixed)
            logger.debug("not this")
            logger.info("first\nforged", ["a": "b c"])
            logger.error("second")
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(
            text == """
                2026-01-01T00:00:00.123Z info first\\u{a}forged a="b c"
                2026-01-01T00:00:00.123Z error second

                """)
    }

    /// Lines written concurrently by several threads stay complete.
    @Test func `Entries of many threads don't mix on standard error`() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let logger = StandardErrorLogger(clock: .fixed)
            await withTaskGroup { group in
                for number in 0..<200 {
                    group.addTask { logger.info("\(number)", ["text": String(repeating: "\(number % 10)", count: 500)]) }
                }
            }
        }
        let lines = String(decoding: try #require(result).standardErrorContent, as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 200)
        for line in lines {
            let words = line.split(separator: " ")
            try #require(words.count == 4)
            #expect(words[3] == "text=\(String(repeating: String(words[2].suffix(1)), count: 500))")
        }
    }

    @Test func `Entries reach the system's log, echoed to standard error`() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            // Identifiers made at run time: syslog(3) keeps the pointer, not the text.
            let loggers = ["first", "second"].map {
                SystemLogger(identifier: "nevod-\($0)", facility: .local3, minimum: .notice, echoesToStandardError: true)
            }
            for logger in loggers { logger.info("not this") }
            loggers[0].notice("%s%n%d", ["a": "b"])
            loggers[1].error("two\nlines")
            loggers[0].warning("again")
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        let lines = text.split(separator: "\n").map { line in
            // The process's number is in brackets.
            line.prefix { $0 != "[" } + line.drop { $0 != "]" }
        }
        #expect(lines == ["nevod-first]: %s%n%d a=b", "nevod-second]: two\\u{a}lines", "nevod-first]: again"])
    }

    /// The log's socket in a file system that only the child sees, so that the machine's log isn't affected.
    @Test(.enabled(if: MountNamespace.isAllowed, "needs the right to mount, in a namespace of its own"))
    func `Entries reach the daemon of the system's log in its format`() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            let socket = try MountNamespace.makeLogSocket()
            let logger = SystemLogger(identifier: "nevod-test", facility: .local3, minimum: .debug)
            for level in LogLevel.allCases { logger.log(level, "level\n\(level)") }
            SystemLogger(identifier: "other", facility: .daemon).info(String(repeating: "x", count: 200_000))
            for _ in 0..<6 { print(MountNamespace.receive(socket)) }
        }
        let text = String(decoding: try #require(result).standardOutputContent, as: UTF8.self)
        // <priority>Mmm dd hh:mm:ss name[pid]: text (RFC 3164 §4.1)
        let records = text.split(separator: "\n").map { record in
            let text = record.drop { $0 != ">" }.dropFirst("> Mmm dd hh:mm:ss".count)
            return "\(record.prefix { $0 != ">" })>\(text.prefix { $0 != "[" })\(text.drop { $0 != "]" }.dropFirst())"
        }
        try #require(records.count == 6)
        #expect(
            records.prefix(5) == [
                "<159>nevod-test: level\\u{a}debug", "<158>nevod-test: level\\u{a}info", "<157>nevod-test: level\\u{a}notice",
                "<156>nevod-test: level\\u{a}warning", "<155>nevod-test: level\\u{a}error",
            ])
        #expect(records[5].hasPrefix("<30>other: xxx") && records[5].hasSuffix("x[… 167232 bytes more]"))
    }
}

/// A private mount namespace of the calling thread (mount_namespaces(7)).
enum MountNamespace {
    static let isAllowed = (try? Command.output(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/dev"])) != nil

    /// Applies to this thread only, so syslog(3) must be called on it too.
    static func makeLogSocket() throws -> Int32 {
        typealias Unshare = @convention(c) (Int32) -> Int32
        typealias Mount =
            @convention(c) (
                UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafePointer<CChar>?, CUnsignedLong, UnsafeRawPointer?
            ) -> Int32
        let (newNamespace, isRecursive, isPrivate): (Int32, CUnsignedLong, CUnsignedLong) = (0x20000, 0x4000, 0x40000)
        let unshare = unsafeBitCast(dlsym(nil, "unshare"), to: Unshare.self)
        let mount = unsafeBitCast(dlsym(nil, "mount"), to: Mount.self)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: "/dev/log".utf8) }
        let listener = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        guard unshare(newNamespace) == 0, mount("none", "/", nil, isRecursive | isPrivate, nil) == 0,
            mount("none", "/dev", "tmpfs", 0, nil) == 0,
            withUnsafeBytes(
                of: &address,
                { bytes in
                    bytes.baseAddress.map { bind(listener, $0.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count)) }
                        ?? -1
                }) == 0
        else { throw Command.Failure(description: "no /dev/log: \(String(cString: strerror(errno)))") }
        return listener
    }

    static func receive(_ socket: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 1 << 18)
        let count = recv(socket, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
