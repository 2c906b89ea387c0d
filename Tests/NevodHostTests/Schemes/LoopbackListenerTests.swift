import Glibc
import NevodPluginABI
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost

/// Hostile clients of a redirect URI. None is mistaken for the browser, and none keeps the browser out.
struct LoopbackListenerTests {
    private static let timeout: Duration = .milliseconds(300)

    private func form() throws -> LoopbackListener {
        try LoopbackListener(RedirectURI(path: "/back", isFormPost: true), timeout: Self.timeout)
    }

    private func head(_ listener: LoopbackListener, _ lines: String) -> String {
        let authority = listener.url.dropFirst("http://".count).prefix { $0 != "/" }
        return
            "POST /back HTTP/1.1\r\nHost: \(authority)\r\nContent-Type: application/x-www-form-urlencoded\r\n\(lines)\r\n"
    }

    /// Sends a valid form, and expects that it arrives first.
    private func expectNothingElse(_ listener: LoopbackListener) async throws {
        let client = try LoopbackClient(of: listener)
        client.write(Array((head(listener, "Content-Length: 4\r\n") + "good").utf8))
        let redirect = try await listener.redirect(until: .now + .seconds(30))
        #expect(redirect.body == Secret("good"))
        #expect(redirect.url == listener.url)
        #expect(client.response.hasPrefix("HTTP/1.1 200 OK\r\n"))
    }

    @Test(arguments: [
        ("Content-Length: 99999999999\r\n", "413"), ("Content-Length: 18446744073709551617\r\n", "413"),
        ("Content-Length: -5\r\n", "400"), ("", "411"), ("Transfer-Encoding: chunked\r\n", "411"),
        ("Content-Length: 3\r\nContent-Length: 5\r\n", "400"),
        ("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "411"),
    ])
    func `A form without a valid length is refused`(lines: String, status: String) async throws {
        let listener = try form()
        defer { listener.stop() }
        let client = try LoopbackClient(of: listener)
        client.write(Array(head(listener, lines).utf8))
        #expect(client.response.hasPrefix("HTTP/1.1 \(status) "))
        try await expectNothingElse(listener)
    }

    @Test func `The largest form arrives in pieces; a larger one is refused`() async throws {
        let listener = try LoopbackListener(RedirectURI(path: "/back", isFormPost: true), timeout: .seconds(30))
        defer { listener.stop() }
        let largest = Int(NEVOD_LIMIT_FLOW_BODY)
        let body = (0..<largest).map { UInt8(truncatingIfNeeded: $0) }
        let client = try LoopbackClient(of: listener)
        client.write(Array(head(listener, "Content-Length: \(largest)\r\n").utf8) + body)
        let redirect = try await listener.redirect(until: .now + .seconds(30))
        #expect(redirect.body == Secret(copying: body))
        let larger = try LoopbackClient(of: listener)
        larger.write(Array(head(listener, "Content-Length: \(largest + 1)\r\n").utf8))
        #expect(larger.response.hasPrefix("HTTP/1.1 413 "))
        try await expectNothingElse(listener)
    }

    @Test func `A form that is too short at the deadline, or when the client closes, counts as none`() async throws {
        let listener = try form()
        defer { listener.stop() }
        let slow = try LoopbackClient(of: listener)
        slow.write(Array((head(listener, "Content-Length: 10\r\n") + "code").utf8))
        #expect(slow.response.isEmpty)
        let short = try LoopbackClient(of: listener)
        short.write(Array((head(listener, "Content-Length: 10\r\n") + "code").utf8))
        short.finishWriting()
        #expect(short.response.isEmpty)
        try await expectNothingElse(listener)
    }

    @Test func `Bytes after the form are not part of it, and a second request on the connection is none`() async throws {
        let listener = try form()
        defer { listener.stop() }
        let client = try LoopbackClient(of: listener)
        let one = head(listener, "Content-Length: 3\r\n")
        client.write(Array("\(one)one\(one)two".utf8))
        #expect(try await listener.redirect(until: .now + .seconds(30)).body == Secret("one"))
        _ = client.response
        try await expectNothingElse(listener)
    }

    @Test func `A head of more than 32 KiB is refused`() async throws {
        let listener = try form()
        defer { listener.stop() }
        for line in ["A: \(String(repeating: "x", count: 33 << 10))\r\n", String(repeating: "A: b\r\n", count: 6000)] {
            let client = try LoopbackClient(of: listener)
            client.write(Array(head(listener, "\(line)Content-Length: 3\r\n").utf8) + Array("abc".utf8))
            #expect(!client.response.contains("200 OK"))
        }
        try await expectNothingElse(listener)
    }

    @Test func `Silent connections end, and the next ones are served`() async throws {
        let listener = try form()
        defer { listener.stop() }
        let silent = try (0..<40).map { _ in try LoopbackClient(of: listener) }
        for client in silent { #expect(client.response.isEmpty) }
        try await expectNothingElse(listener)
    }

    @Test func `A limited number of unread forms is kept`() async throws {
        let listener = try form()
        defer { listener.stop() }
        for index in 0..<20 {
            let client = try LoopbackClient(of: listener)
            client.write(Array((head(listener, "Content-Length: 2\r\n") + "\(index + 10)").utf8))
            #expect(client.response.contains("200 OK"))
        }
        var bodies: [Secret?] = []
        for _ in 0..<16 { bodies.append(try await listener.redirect(until: .now + .seconds(30)).body) }
        let expected: [Secret?] = (10..<26).map { Secret("\($0)") }
        #expect(bodies == expected)
        try await expectNothingElse(listener)
    }
}

/// A client that sends what a test tells it.
private final class LoopbackClient {
    private let descriptor: Int32

    init(of listener: LoopbackListener) throws {
        let port = try #require(listener.url.split(separator: ":")[2].split(separator: "/").first.flatMap { UInt16($0) })
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let descriptor = descriptor
        let isConnected = withUnsafeBytes(of: &address) { bytes in
            guard let address = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return false }
            return connect(descriptor, address, socklen_t(bytes.count)) == 0
        }
        try #require(isConnected)
    }

    deinit {
        close(descriptor)
    }

    /// Stops when the listener has closed the connection.
    func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    func finishWriting() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Reads until the listener closes the connection.
    var response: String {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(descriptor, &piece, piece.count, 0)
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
            bytes += piece[..<count]
        }
    }
}
