internal import NevodSupport

/// The header lines that describe the client of a request: User-Agent and Accept-Language (RFC 9110 §10.1.5, §12.5.4). A flow's
/// requests carry the same lines, since many applications end a session that is used with other ones. Accept isn't included: a
/// server that is asked for JSON sends no login page.
package struct ClientLines: Sendable, Equatable {
    private static let names = ["User-Agent", "Accept-Language"]
    private var lines: [Line] = []

    private struct Line: Sendable, Equatable {
        let name: String
        let value: String
    }

    package init() {}

    /// Takes the lines that the caller wrote, but not the lines of a token or scheme.
    package init(of request: HTTPRequest) {
        for line in request.headers where !line.provenance.writesCredentials { add(line.name, line.value) }
    }

    /// Adds a line if it describes the client.
    package mutating func add(_ name: String, _ value: String) {
        let lowercased = name.lowercased()
        guard let known = Self.names.first(where: { $0.lowercased() == lowercased }) else { return }
        lines.append(Line(name: known, value: value))
    }

    /// Adds the lines whose names the request doesn't have. A scheme's own lines stay, since its server wants them.
    package func add(to request: inout HTTPRequest) {
        let missing = lines.filter { !request.headers.contains($0.name) }
        // These lines are the caller's, and not secret; the rest of the request is the scheme's.
        let provenance = request.provenance
        request.provenance = .caller
        defer { request.provenance = provenance }
        // Valid, since they were lines of a request.
        for line in missing { try? request.addHeader(line.name, line.value) }
    }
}

/// The client of the latest request that needed a token, for flows that run without a request, such as a logout.
final class LatestClient: Sendable {
    private let lines = Locked(ClientLines())

    /// Returns the lines for a flow.
    ///
    /// - Parameter client: the client of the request that needs the flow; nil if no request does.
    func lines(for client: ClientLines?) -> ClientLines {
        lines.withLock { lines in
            if let client { lines = client }
            return lines
        }
    }
}
