internal import Foundation
import NevodSupport
internal import NevodTestSupport

@testable import NevodHost

/// A server that answers each request by a function, and remembers what it was asked, to the byte.
final class ScriptedServer: Sendable {
    struct Request: Sendable {
        let method: String
        /// As it came over the wire.
        let target: String
        let headers: [(name: String, value: String)]
        let body: [UInt8]

        subscript(name: String) -> String? {
            headers.first { $0.name.lowercased() == name.lowercased() }?.value
        }

        var query: String { target.split(separator: "?", maxSplits: 1).dropFirst().first.map(String.init) ?? "" }
    }

    struct Answer: Sendable {
        var status = 200
        var headers: [String] = []
        var body = ""

        static func json(_ body: String, headers: [String] = []) -> Answer { Answer(headers: headers, body: body) }
    }

    let url: String
    private let server: RawServer
    private let seen: Collected<Request>

    init(_ answer: @escaping @Sendable (Request) -> Answer = { _ in Answer() }) throws {
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
                let answer = answer(request)
                let head = ["HTTP/1.1 \(answer.status) X", "Content-Length: \(answer.body.utf8.count)"] + answer.headers
                connection.write(head.joined(separator: "\r\n") + "\r\n\r\n" + answer.body)
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
    /// With JSON, and one service there.
    ///
    /// - Parameter server: lives as long as the provider does.
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

    func encode(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return Array(try encoder.encode(value))
    }

    func decode<Value: Decodable>(_ type: Value.Type, from body: [UInt8]) throws -> Value {
        try JSONDecoder().decode(type, from: Data(body))
    }
}
