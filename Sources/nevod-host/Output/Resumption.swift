import Glibc
import NevodHost
import NevodSupport

/// The part of a body that `-C` or `-r` asks for (RFC 9110 §14).
struct Resumption {
    /// The first byte that `-C` asks for; 0 if everything is missing.
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
            guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text) else {
                throw UsageError("-C \(text) is not a number of bytes, or -")
            }
            offset = number
        }
        range = offset > 0 ? "bytes=\(offset)-" : nil
    }

    private static func range(_ text: String) throws(UsageError) -> String {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ",") }),
            text.utf8.contains(where: { (0x30...0x39).contains($0) })
        else { throw UsageError("-r \(text) is not a range of bytes such as 0-499, 500- or -500") }
        // curl takes a number alone for a beginning.
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

    /// Whether the server has no bytes from the offset on: the file is complete.
    func isBeyondEnd(_ response: HTTPResponse) -> Bool { offset > 0 && response.status == 416 }

    /// Returns whether there is nothing to append, since the file is complete.
    ///
    /// - Throws: if the response is not the rest that was asked for; appended, it would make a broken file.
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

/// A response that is not the rest that `-C` asked for.
struct RangeError: Error, CustomStringConvertible {
    let offset: Int64
    let status: Int
    /// The refusal of the request's credential; nil if the response is none.
    private(set) var refusal: HTTPStatusError?

    init(offset: Int64, status: Int) {
        self.offset = offset
        self.status = status
    }

    /// Returns the same error with the refusal that is its reason.
    func explained(by refusal: HTTPStatusError) -> RangeError {
        var copy = self
        copy.refusal = refusal
        return copy
    }

    var description: String {
        if let refusal { return "there is no rest from byte \(offset) on: \(refusal)" }
        return "the server's response (\(status)) is not the rest from byte \(offset) on; without -C, all of it is fetched"
    }
}
