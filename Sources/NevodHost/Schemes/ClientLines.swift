internal import NevodSupport

/// The header lines that describe the client of a request: User-Agent and Accept-Language (RFC 9110 §10.1.5, §12.5.4). A flow's
/// requests carry the same ones, since many applications bind a session to them: one that another client began ends at once. Accept isn't
/// among them: a server that is asked for JSON sends no login page.
package struct ClientLines: Sendable, Equatable {
    private static let names = ["User-Agent", "Accept-Language"]
    private var lines: [Line] = []

    private struct Line: Sendable, Equatable {
        let name: String
        let value: String
    }

    package init() {}

    /// Takes the lines that the caller wrote, and none of a token or scheme.
    package init(of request: HTTPRequest) {
        for line in request.headers where !line.provenance.writesCredentials { add(line.name, line.value) }
    }

    /// Adds a line if it describes the client.
    package mutating func add(_ name: String, _ value: String) {
        let lowercased = name.lowercased()
        guard let known = Self.names.first(where: { $0.lowercased() == lowercased }) else { return }
        lines.append(Line(name: known, value: value))
    }

    /// Adds the lines whose names the request doesn't have: a scheme's own are the ones that its server wants.
    package func add(to request: inout HTTPRequest) {
        let missing = lines.filter { !request.headers.contains($0.name) }
        // They are the caller's, and no secrets, in a request that is the scheme's otherwise.
        let provenance = request.provenance
        request.provenance = .caller
        defer { request.provenance = provenance }
        // Valid, since they were lines of a request.
        for line in missing { try? request.addHeader(line.name, line.value) }
    }
}

/// The client of the latest request that needed a token, for the flows that no request needs, such as a logout.
final class LatestClient: Sendable {
    private let lines = Locked(ClientLines())

    /// Returns the lines for a flow on behalf of a client; nil for one that no request needs.
    func lines(for client: ClientLines?) -> ClientLines {
        lines.withLock { lines in
            if let client { lines = client }
            return lines
        }
    }
}
