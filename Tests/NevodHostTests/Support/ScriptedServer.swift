internal import Foundation
import NevodSupport
internal import NevodTestSupport

@testable import NevodHost

/// A server that gets its responses from a function, and records the exact requests.
final class ScriptedServer: Sendable {
    struct Request: Sendable {
        let method: String
        /// The target exactly as received.
        let target: String
        let headers: [(name: String, value: String)]
        let body: [UInt8]

        subscript(name: String) -> String? {
            headers.first { $0.name.lowercased() == name.lowercased() }?.value
        }

        var query: String { target.split(separator: "?", maxSplits: 1).dropFirst().first.map(String.init) ?? "" }
    }

    struct Response: Sendable {
        var status = 200
        var headers: [String] = []
        var body = ""

        static func json(_ body: String, headers: [String] = []) -> Response { Response(headers: headers, body: body) }
    }

    let url: String
    private let server: RawServer
    private let seen: Collected<Request>

    init(_ response: @escaping @Sendable (Request) -> Response = { _ in Response() }) throws {
        let seen = Collected<Request>()
        server = try RawServer { connection, _ in
            while let raw = connection.readRequest() {
                let lines = raw.head.split(separator: "\r\n")
                let words = lines[0].split(separator: " ")
                let fields = lines.dropFirst().map { line in
                    let parts = line.split(separator: ":", maxSplits: 1)
                    return (String(parts[0]), parts.count > 1 ? String(parts[1].drop { $0 == " " }) : "")
                }
                let request = Request(method: String(words[0]), target: String(words[1]), headers: fields, body: raw.body)
                seen.append(request)
                let response = response(request)
                let head = ["HTTP/1.1 \(response.status) X", "Content-Length: \(response.body.utf8.count)"] + response.headers
                connection.write(head.joined(separator: "\r\n") + "\r\n\r\n" + response.body)
            }
        }
        self.seen = seen
        url = server.url
    }

    var requests: [Request] { seen.values }
}

enum Service: ServiceDomain {
    case api, cdn
    var identifier: String { self == .api ? "api" : "cdn" }
}

extension NetworkProvider {
    /// Creates a provider with JSON and one service at that URL.
    ///
    /// - Parameter server: an object to keep alive as long as the provider.
    static func test(_ url: String, keeping server: (any AnyObject & Sendable)? = nil) -> NetworkProvider {
        NetworkProvider(
            config: NetworkConfig(
                environments: [Service.api: SimpleEnvironment(baseURL: url)], retryPolicy: .none, encoder: TestJSON(),
                decoder: TestJSON()),
            observer: { _ in withExtendedLifetime(server) {} })
    }

    static func test(_ server: ScriptedServer) -> NetworkProvider { test(server.url, keeping: server) }
    static func test(_ server: RawServer) -> NetworkProvider { test(server.url, keeping: server) }
}

struct TestJSON: BodyEncoder, BodyDecoder {
    var contentType: String { "application/json" }

    func body(of value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return Array(try encoder.encode(value))
    }

    func value<Value: Decodable>(_ type: Value.Type, in body: [UInt8]) throws -> Value {
        try JSONDecoder().decode(type, from: Data(body))
    }
}
