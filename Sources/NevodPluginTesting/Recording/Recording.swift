internal import NevodSupport

/// The calls that crossed the contract during a command, as JSON lines: a header, and then a line for each.
package struct Recording: Sendable, Equatable {
    package var header: RecordingHeader
    package var calls: [RecordedCall]

    /// The largest file that is read, and the largest number of calls in it.
    package static let largest = 64 << 20
    package static let mostCalls = 100_000
    private static let depth = 16

    package init(_ header: RecordingHeader, _ calls: [RecordedCall]) {
        self.header = header
        self.calls = calls
    }

    package init(parsing bytes: [UInt8]) throws(RecordingError) {
        guard bytes.count <= Self.largest else { throw RecordingError(line: 1, problem: "begins a file of more than 64 MiB") }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard bytes.last == UInt8(ascii: "\n") else { throw RecordingError(line: lines.count, problem: "is cut off") }
        guard lines.count <= Self.mostCalls else { throw RecordingError(line: Self.mostCalls, problem: "is one too many") }
        header = try RecordingHeader(Self.json(lines[0], 1))
        calls = []
        for (index, line) in lines.dropFirst().dropLast().enumerated() {
            let number = index + 2
            let json = try Self.json(line, number)
            do throws(RecordingCoder.Problem) { calls.append(try RecordingCoder.call(json)) } catch {
                throw RecordingError(line: number, problem: error.text)
            }
        }
    }

    private static func json(_ line: ArraySlice<UInt8>, _ number: Int) throws(RecordingError) -> JSONValue {
        do throws(JSONError) {
            return try JSONValue(parsing: Array(line).span, size: largest, depth: depth, repeatedNames: .refused)
        } catch {
            throw RecordingError(line: number, problem: "is no JSON: \(error)")
        }
    }

    /// The file's bytes.
    package var encoded: [UInt8] {
        var bytes: [UInt8] = []
        for json in [header.json] + calls.map(RecordingCoder.json) {
            json.encoded.withUnsafeBytes { bytes.append(contentsOf: $0) }
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }
}
