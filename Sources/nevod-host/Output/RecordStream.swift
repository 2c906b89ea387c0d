import NevodHost
import NevodSupport

/// Formats a body of JSON documents, or of events, for a terminal as it arrives: each line at once, JSON on one line and in
/// colours, anything else with control characters escaped.
struct RecordStream {
    enum Kind {
        /// A document on each line.
        case lines
        /// Documents that begin with a record separator and end with a line break (RFC 7464).
        case sequence
        /// Server-sent events: lines `field: value` (HTML Living Standard §9.2.6).
        case events

        /// - Parameter mediaType: in lower case, without parameters.
        init?(mediaType: String) {
            switch mediaType {
            case "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonl",
                "application/jsonlines",
                "application/x-jsonlines", "application/json-lines", "application/stream+json":
                self = .lines
            case "application/json-seq": self = .sequence
            case "text/event-stream": self = .events
            default:
                guard mediaType.hasSuffix("+json-seq") else { return nil }
                self = .sequence
            }
        }
    }

    /// Longer lines are shown unformatted, as they arrive.
    static let longestLine = 1 << 20

    private let kind: Kind
    private let inColour: Bool
    /// The start of an unfinished line.
    private var line: [UInt8] = []
    /// Shows a line that is too long to format; nil at the start of a line.
    private var filter: TerminalFilter?
    /// Whether the last byte was a carriage return that ended a line. A line feed after it is part of the same line break.
    private var endedWithReturn = false

    init(_ kind: Kind, inColour: Bool) {
        self.kind = kind
        self.inColour = inColour
    }

    /// Adds a piece, and returns what can be shown now, safe for a terminal.
    mutating func format(_ piece: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        var rest = piece[...]
        if endedWithReturn, rest.first == 0x0A { rest.removeFirst() }
        if !piece.isEmpty { endedWithReturn = false }
        while let end = rest.firstIndex(where: endsLine) {
            add(rest[..<end], to: &output)
            finishLine(&output)
            let isReturn = rest[end] == 0x0D
            rest = rest[(end + 1)...]
            guard isReturn else { continue }
            if rest.first == 0x0A { rest.removeFirst() } else if rest.isEmpty { endedWithReturn = true }
        }
        add(rest, to: &output)
        return output
    }

    /// Returns the rest, after the last piece.
    mutating func finish() -> [UInt8] {
        var output: [UInt8] = []
        if !line.isEmpty || filter != nil { finishLine(&output) }
        return output
    }

    private func endsLine(_ byte: UInt8) -> Bool { byte == 0x0A || kind == .events && byte == 0x0D }

    private mutating func add(_ bytes: ArraySlice<UInt8>, to output: inout [UInt8]) {
        guard !bytes.isEmpty else { return }
        if filter == nil {
            line += bytes
            guard line.count > Self.longestLine else { return }
            filter = TerminalFilter()
            output += filter?.safe(line) ?? []
            line = []
        } else {
            output += filter?.safe(Array(bytes)) ?? []
        }
    }

    private mutating func finishLine(_ output: inout [UInt8]) {
        if filter != nil {
            output += filter?.finish() ?? []
            output.append(0x0A)
            filter = nil
        } else {
            if kind != .events, line.last == 0x0D { line.removeLast() }
            output += kind == .events ? event(line) : record(line)
            line = []
        }
    }

    private func record(_ line: [UInt8]) -> [UInt8] {
        let line = kind == .sequence ? Array(line.drop { $0 == 0x1E }) : line
        return formatted(line) ?? safe(line)
    }

    private func event(_ line: [UInt8]) -> [UInt8] {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), line.starts(with: "data".utf8), colon == 4 else {
            return safe(line)
        }
        let value = Array(line[(colon + 1)...].drop { $0 == 0x20 })
        // A lone number or word is text that happens to be JSON.
        guard let first = value.first, first == UInt8(ascii: "{") || first == UInt8(ascii: "["), let shown = formatted(value)
        else { return safe(line) }
        return Array("data: ".utf8) + shown
    }

    /// Returns the line with its line break; nil if it isn't JSON.
    private func formatted(_ line: [UInt8]) -> [UInt8]? {
        var formatter = JSONFormatter(inColour: inColour)
        formatter.isCompact = true
        return formatter.format(line)
    }

    private func safe(_ line: [UInt8]) -> [UInt8] {
        var filter = TerminalFilter()
        return filter.safe(line) + filter.finish() + [0x0A]
    }
}
