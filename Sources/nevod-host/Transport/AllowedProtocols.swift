import NevodHost
import NevodSupport

/// The protocols of `--proto`, in curl's syntax: `=https`, `-http`, `https,-http`, `-all,https`.
struct AllowedProtocols {
    private(set) var names: Set<String> = ["http", "https"]
    private let text: String

    init(_ text: String) throws(UsageError) {
        self.text = text
        for word in text.split(separator: ",") {
            let mark = word.utf8.first
            let isMarked = mark.map { "+-=".utf8.contains($0) } == true
            let name = (isMarked ? word.dropFirst() : word).lowercased()
            guard !name.isEmpty else { throw UsageError("--proto \(text) has a sign without a protocol; write --proto =https") }
            // curl's other protocols are never used here, so their names change nothing.
            let meant: Set<String> = name == "all" ? ["http", "https"] : Set(["http", "https"].filter { $0 == name })
            switch mark {
            case UInt8(ascii: "-"): names.subtract(meant)
            case UInt8(ascii: "="): names = meant
            default: names.formUnion(meant)
            }
        }
    }

    /// - Throws: ``ForbiddenProtocolError`` if the protocol of the request's URL is not allowed.
    func check(_ request: HTTPRequest) throws {
        guard !names.contains(request.origin.scheme.rawValue) else { return }
        throw ForbiddenProtocolError(scheme: request.origin.scheme.rawValue, flag: text)
    }
}

/// Checks the protocol of every request, including those after redirects.
struct ProtocolCheck: RequestInterceptor {
    let allowed: AllowedProtocols

    func adapt(_ exchange: inout Exchange) async throws {
        do { try allowed.check(exchange.request) } catch { throw NetworkError.unknown(error) }
    }
}

struct ForbiddenProtocolError: Error, CustomStringConvertible {
    let scheme: String
    let flag: String
    var description: String {
        "the URL, or the target of a redirect, begins with \(scheme)://, which --proto \(flag) doesn't allow"
    }
}
