internal import NevodSupport

/// The head of a request at a redirect URI, after all checks.
struct RedirectHead {
    /// Why a request is refused; the raw value is the status of the response.
    enum Refusal: Int, Error {
        case malformed = 400
        /// Another path, method or host, such as a browser's request for an icon.
        case notFound = 404
        case lengthRequired = 411
        case tooLarge = 413
        case otherType = 415

        var reason: String {
            switch self {
            case .malformed: "Bad Request"
            case .notFound: "Not Found"
            case .lengthRequired: "Length Required"
            case .tooLarge: "Content Too Large"
            case .otherType: "Unsupported Media Type"
            }
        }
    }

    /// The request-target, with its query.
    let target: String
    /// The length of a form; 0 for a GET.
    let bodyLength: Int

    /// - Parameters:
    ///   - bytes: up to and including the empty line.
    ///   - authorities: the valid values of Host. A name that somebody else registered may resolve to this machine (DNS rebinding).
    ///   - largestBody: in bytes.
    init(_ bytes: UnsafeRawBufferPointer, _ uri: RedirectURI, authorities: [String], largestBody: Int) throws(Refusal) {
        let lines = bytes.dropLast(4).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        var rest = lines.map { $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0 }[...]
        guard let requestLine = rest.popFirst() else { throw .malformed }
        let words = requestLine.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count == 3, words[1].allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { throw .malformed }
        let fields = try rest.map(Self.field)
        func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

        target = String(decoding: words[1], as: UTF8.self)
        let hosts = values("host")
        guard words[0].elementsEqual((uri.isFormPost ? "POST" : "GET").utf8),
            target == uri.path || target.hasPrefix("\(uri.path)?"), hosts.count == 1, authorities.contains(hosts[0].lowercased())
        else { throw .notFound }
        guard uri.isFormPost else {
            bodyLength = 0
            return
        }
        guard values("transfer-encoding").isEmpty else { throw .lengthRequired }
        let lengths = values("content-length")
        guard let text = lengths.first else { throw .lengthRequired }
        guard lengths.count == 1, !text.isEmpty, text.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") })
        else { throw .malformed }
        // A number that overflows is too large as well.
        guard let length = Int(text), length <= largestBody else { throw .tooLarge }
        let types = values("content-type").map { $0.prefix { $0 != ";" && $0 != " " && $0 != "\t" }.lowercased() }
        guard types == ["application/x-www-form-urlencoded"] else { throw .otherType }
        bodyLength = length
    }

    private static func field(_ line: Slice<UnsafeRawBufferPointer>) throws(Refusal) -> (name: String, value: String) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
            line[..<colon].allSatisfy({ $0 > 0x20 && $0 < 0x7F }), !line.contains(where: { $0 == 0 || $0 == UInt8(ascii: "\r") })
        else { throw .malformed }
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var value = line[(colon + 1)...].drop(while: isBlank)
        while let last = value.last, isBlank(last) { value = value.dropLast() }
        return (String(decoding: line[..<colon], as: UTF8.self).lowercased(), String(decoding: value, as: UTF8.self))
    }
}
