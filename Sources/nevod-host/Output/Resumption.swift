import Glibc
import NevodHost
import NevodSupport

/// The part of a body that `-C` or `-r` asks for (RFC 9110 §14).
struct Resumption {
    /// The first byte that `-C` asks for; 0 to ask for everything.
    let offset: Int64
    /// The value of the request's `Range`; nil to ask for everything.
    let range: String?

    init(_ arguments: Arguments) throws {
        guard let text = arguments.value(.continueAt) else {
            offset = 0
            range = try arguments.value(.range).map(Self.range)
            return
        }
        for other in [Flag.Name.range, .uploadFile, .remoteHeaderName, .noClobber, .removeOnError] where arguments.has(other) {
            throw UsageError("-C and \(other.spelling) can't be combined")
        }
        if text == "-" {
            offset = try OutputFile(arguments).path.map(Self.length) ?? 0
        } else {
            guard let number = Int64(digits: text.utf8) else {
                throw UsageError("-C \(text) is not a number of bytes, or -")
            }
            offset = number
        }
        range = offset > 0 ? "bytes=\(offset)-" : nil
    }

    private static func range(_ text: String) throws(UsageError) -> String {
        guard text.utf8.allSatisfy({ $0.isDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ",") }),
            text.utf8.contains(where: \.isDigit)
        else { throw UsageError("-r \(text) is not a range of bytes such as 0-499, 500- or -500") }
        // curl reads a lone number as the first byte.
        return "bytes=\(text)\(text.utf8.contains(UInt8(ascii: "-")) ? "" : "-")"
    }

    private static func length(_ path: String) throws(InputError) -> Int64 {
        var info = stat()
        guard stat(path, &info) == 0 else {
            if errno == ENOENT { return 0 }
            throw InputError(path, errno)
        }
        return info.st_mode & S_IFMT == S_IFREG ? Int64(info.st_size) : 0
    }

    /// Whether the server has no bytes from the offset on, so that the file is complete.
    func isBeyondEnd(_ response: HTTPResponse) -> Bool { offset > 0 && response.status == 416 }

    /// Returns whether the file is complete, so that there is nothing to append.
    ///
    /// - Throws: if the response is not the requested rest. Appending it would make a broken file.
    func isComplete(_ response: HTTPResponse) throws(RangeError) -> Bool {
        guard offset > 0 else { return false }
        if isBeyondEnd(response) { return true }
        if response.status == 206, Self.start(of: response.headers["Content-Range"] ?? "") == offset { return false }
        if response.status == 200, response.headers["Content-Length"].flatMap({ Int64($0) }) == offset { return true }
        throw RangeError(offset: offset, status: response.status)
    }

    /// The first byte of `bytes 500-999/1234`.
    private static func start(of field: String) -> Int64? {
        let words = field.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        return Int64(words[1].prefix { $0 != "-" })
    }
}

/// Reports a response that is not the rest that `-C` asked for.
struct RangeError: Error, CustomStringConvertible {
    let offset: Int64
    let status: Int
    /// The refusal of the request's credential; nil if the response doesn't refuse it.
    private(set) var refusal: HTTPStatusError?

    init(offset: Int64, status: Int) {
        self.offset = offset
        self.status = status
    }

    /// Returns the same error with a refusal as its reason.
    func explained(by refusal: HTTPStatusError) -> RangeError {
        var copy = self
        copy.refusal = refusal
        return copy
    }

    var description: String {
        if let refusal { return "the rest from byte \(offset) on was not sent: \(refusal)" }
        return "the server's response (\(status)) is not the rest from byte \(offset) on; without -C, the whole body is fetched"
    }
}
