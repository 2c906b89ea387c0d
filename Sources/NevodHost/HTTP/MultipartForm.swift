internal import COpenSSL
internal import NevodSupport

/// A form with several parts (`multipart/form-data`, RFC 7578). Files are read while they are sent.
public struct MultipartForm: Sendable {
    private struct Part {
        let head: [UInt8]
        let content: HTTPBody
    }

    private let boundary: String
    private var parts: [Part] = []

    /// Creates a form without parts.
    public init() {
        boundary = Self.randomBoundary()
    }

    /// Creates a form with a boundary of your own.
    ///
    /// - Throws: if the boundary isn't 1 … 70 letters, digits, or any of `-_.+'` (RFC 2046 §5.1.1, without characters that a
    ///   Content-Type has to quote).
    package init(boundary: String) throws(InvalidRequestError) {
        let isValid = boundary.unicodeScalars.allSatisfy {
            $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil || "-_.+'".unicodeScalars.contains($0))
        }
        guard isValid, (1...70).contains(boundary.utf8.count) else {
            throw InvalidRequestError(.body, "the boundary of its parts must be 1 to 70 letters, digits, or any of -_.+'")
        }
        self.boundary = boundary
    }

    /// Content can't contain 24 random bytes by chance, so it needn't be searched for the boundary.
    package static func randomBoundary() -> String {
        var random = [UInt8](repeating: 0, count: 24)
        RAND_bytes(&random, Int32(random.count))
        return "nevod-" + Hexadecimal.text(random)
    }

    /// The value for the request's Content-Type, with the boundary.
    public var contentType: String { "multipart/form-data; boundary=\(boundary)" }

    /// Adds a part.
    ///
    /// - Parameters:
    ///   - name: the field's name; quotes and line breaks in it are escaped.
    ///   - content: bytes or a file; not a stream of unknown length.
    ///   - fileName: the file name sent to the server, which then treats the part as a file.
    ///   - contentType: the part's media type; if nil, none is sent and the server assumes text (RFC 7578 §4.4).
    public mutating func add(
        _ name: String, _ content: HTTPBody, fileName: String? = nil, contentType: String? = nil
    ) throws(InvalidRequestError) {
        guard content.length != nil else { throw InvalidRequestError(.body, "the part \"\(name)\" has no known length") }
        guard contentType.map(HTTPSyntax.isFieldValue) != false else {
            throw InvalidRequestError(.header("Content-Type"), "the type of the part \"\(name)\" contains a control character")
        }
        var head = "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(Self.escaped(name))\""
        if let fileName { head += "; filename=\"\(Self.escaped(fileName))\"" }
        head += "\r\n"
        if let contentType { head += "Content-Type: \(contentType)\r\n" }
        parts.append(Part(head: Array((head + "\r\n").utf8), content: content))
    }

    /// Adds a part with header lines of your own.
    ///
    /// - Parameters:
    ///   - lines: whole lines, `Name: value`, in order and without line breaks.
    ///   - content: bytes or a file; not a stream of unknown length.
    package mutating func add(lines: [String], _ content: HTTPBody) throws(InvalidRequestError) {
        guard content.length != nil else { throw InvalidRequestError(.body, "one of its parts has no known length") }
        guard lines.allSatisfy(HTTPSyntax.isFieldValue) else {
            throw InvalidRequestError(.body, "a header line of one of its parts contains a control character")
        }
        let head = (["--\(boundary)"] + lines + ["", ""]).joined(separator: "\r\n")
        parts.append(Part(head: Array(head.utf8), content: content))
    }

    /// The body, with the parts in the order added. Files are opened when the body is read. The body is replayable if every part
    /// is.
    public var body: HTTPBody {
        let pieces =
            parts.flatMap { [HTTPBody.bytes($0.head), $0.content, .bytes(Array("\r\n".utf8))] }
            + [.bytes(Array("--\(boundary)--\r\n".utf8))]
        // A stream may declare any length. If the sum overflows, the body is sent in chunks.
        let length = pieces.reduce(Int64?(0)) { sum, piece in
            guard let sum, let length = piece.length else { return nil }
            let (total, isTooLarge) = sum.addingReportingOverflow(length)
            return isTooLarge ? nil : total
        }
        let isReplayable = pieces.allSatisfy(\.isReplayable)
        return .stream(HTTPBodyStream(length: length, isReplayable: isReplayable) { SequenceReader(pieces) })
    }

    /// The whole body; nil if a part is not in memory.
    package var bytes: [UInt8]? {
        var bytes: [UInt8] = []
        for part in parts {
            switch part.content {
            case .none: bytes += part.head
            case .bytes(let content): bytes += part.head + content
            case .stream: return nil
            }
            bytes += Array("\r\n".utf8)
        }
        return bytes + Array("--\(boundary)--\r\n".utf8)
    }

    /// Escapes a name as the HTML standard does ("multipart/form-data encoding algorithm").
    private static func escaped(_ name: String) -> String {
        var text = ""
        for scalar in name.unicodeScalars {
            switch scalar {
            case "\"": text += "%22"
            case "\r": text += "%0D"
            case "\n": text += "%0A"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}

/// Reads several bodies one after another.
private actor SequenceReader: HTTPBodyReader {
    private var rest: ArraySlice<HTTPBody>
    private var current: (any HTTPBodyReader)?
    private var bytes: ArraySlice<UInt8> = []

    init(_ bodies: [HTTPBody]) {
        rest = bodies[...]
    }

    func read(upTo count: Int) async throws -> [UInt8] {
        guard count > 0 else { return [] }
        while true {
            if !bytes.isEmpty {
                defer { bytes = bytes.dropFirst(count) }
                return Array(bytes.prefix(count))
            }
            if let reader = current {
                let piece = try await reader.read(upTo: count)
                if !piece.isEmpty { return piece }
                current = nil
            }
            guard let next = rest.popFirst() else { return [] }
            switch next {
            case .none: continue
            case .bytes(let content): bytes = content[...]
            case .stream(let stream): current = try stream.open()
            }
        }
    }
}
