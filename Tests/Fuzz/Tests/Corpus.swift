import Foundation
import NevodTestSupport

/// The files that scripts/fuzz begins with.
struct Corpus {
    /// Sorted by their names.
    let files: [(name: String, bytes: [UInt8])]
    let tokens: [[UInt8]]

    private static let folder = "\(repository)/Tests/Fuzz"

    init(files: [(name: String, bytes: [UInt8])], tokens: [[UInt8]]) {
        (self.files, self.tokens) = (files, tokens)
    }

    init(of fuzzer: String) throws {
        files = try Self.list("Corpus/\(fuzzer)").map { ($0, try contents(of: "\(Self.folder)/Corpus/\(fuzzer)/\($0)")) }
        let dictionary = "\(Self.folder)/Dictionaries/\(fuzzer)"
        tokens =
            FileManager.default.fileExists(atPath: dictionary)
            ? try String(decoding: contents(of: dictionary), as: UTF8.self).split(separator: "\n").map(Self.token) : []
    }

    static var names: [String] { get throws { try list("Corpus") } }
    static var dictionaries: [String] { get throws { try list("Dictionaries") } }

    private static func list(_ path: String) throws -> [String] {
        let path = "\(folder)/\(path)"
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }

    struct InvalidToken: Error {
        let line: Substring
    }

    /// A line of libFuzzer's dictionaries: between quotes, with `\\`, `\"` and `\xAB`.
    static func token(_ line: Substring) throws -> [UInt8] {
        guard line.utf8.count >= 2, line.first == "\"", line.last == "\"" else { throw InvalidToken(line: line) }
        var token: [UInt8] = []
        var rest = Array(line.utf8.dropFirst().dropLast())[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                token.append(byte)
                continue
            }
            switch rest.popFirst() {
            case UInt8(ascii: "x"):
                guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
                    throw InvalidToken(line: line)
                }
                token.append(value)
                rest = rest.dropFirst(2)
            case let escaped? where escaped == UInt8(ascii: "\\") || escaped == UInt8(ascii: "\""): token.append(escaped)
            default: throw InvalidToken(line: line)
            }
        }
        return token
    }
}
