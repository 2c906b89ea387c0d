import Foundation
import NevodSupport
import NevodTestSupport

/// A service on 127.0.0.1 that responds as a test says and keeps the requests.
final class Service: Sendable {
    struct Request: Sendable {
        let method: String
        let path: String
        let head: String
        let body: String

        func header(_ name: String) -> String? { headers(name).first }
        /// The values of all lines with a name.
        func headers(_ name: String) -> [String] {
            let field = "\(name.lowercased()): "
            return head.split(separator: "\r\n").filter { $0.lowercased().hasPrefix(field) }.map {
                String($0.dropFirst(field.count))
            }
        }
        func json(_ name: String) -> String? {
            (try? JSONDecoder().decode([String: String].self, from: Data(body.utf8)))?[name]
        }
    }

    struct Answer: Sendable {
        var status = 200
        var body = "{}"
        var headers = ""
    }

    private let requests = Collected<Request>()
    private let server: RawServer
    var url: String { server.url }
    var log: [Request] { requests.values }

    /// - Parameter answer: gets the request and its number, from 1. Nil closes the connection without a response. May block.
    init(_ answer: @escaping @Sendable (Request, Int) -> Answer?) throws {
        let requests = requests
        server = try RawServer { connection, _ in
            while let received = connection.readRequest() {
                let words = received.head.split(separator: " ")
                let request = Request(
                    method: String(words[0]), path: String(words[1]), head: received.head,
                    body: String(decoding: received.body, as: UTF8.self))
                requests.append(request)
                guard let answer = answer(request, requests.values.count) else { return }
                connection.write(
                    "HTTP/1.1 \(answer.status) Status\r\nContent-Type: application/json\r\n\(answer.headers)"
                        + "Content-Length: \(answer.body.utf8.count)\r\n\r\n\(answer.body)")
            }
        }
    }
}

extension Service.Answer {
    static func json(_ body: String, status: Int = 200, headers: String = "") -> Service.Answer {
        Service.Answer(status: status, body: body, headers: headers)
    }
}
