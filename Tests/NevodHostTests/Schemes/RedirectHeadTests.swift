import NevodSupport
import Testing

@testable import NevodHost

private let form = "Content-Type: application/x-www-form-urlencoded\r\n"

/// The check of a request at a redirect URI, without a socket.
struct RedirectHeadTests {
    private func outcome(_ head: String, isFormPost: Bool = false) -> String {
        let uri = RedirectURI(path: "/back", isFormPost: isFormPost)
        do {
            let head = try Array(head.utf8).withUnsafeBytes {
                try RedirectHead($0, uri, authorities: ["127.0.0.1:7", "127.0.0.1"], largestBody: 1000)
            }
            return "\(head.target) \(head.bodyLength)"
        } catch {
            return (error as? RedirectHead.Refusal).map { "\($0.rawValue)" } ?? "\(error)"
        }
    }

    @Test(arguments: [
        ("GET /back HTTP/1.1\r\nHost: 127.0.0.1:7\r\n\r\n", "/back 0"),
        ("GET /back?a=b HTTP/1.1\r\nA: b\r\nhOST:127.0.0.1:7 \t\r\n\r\n", "/back?a=b 0"),
        ("GET /back HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "/back 0"),
        ("GET /backs HTTP/1.1\r\nHost: 127.0.0.1:7\r\n\r\n", "404"),
        ("GET / HTTP/1.1\r\nHost: 127.0.0.1:7\r\n\r\n", "404"),
        ("HEAD /back HTTP/1.1\r\nHost: 127.0.0.1:7\r\n\r\n", "404"),
        ("POST /back HTTP/1.1\r\nHost: 127.0.0.1:7\r\nContent-Length: 0\r\n\r\n", "404"),
        ("GET http://127.0.0.1:7/back HTTP/1.1\r\nHost: 127.0.0.1:7\r\n\r\n", "404"),
        // Another name, no name, and two.
        ("GET /back HTTP/1.1\r\nHost: evil.example:7\r\n\r\n", "404"),
        ("GET /back HTTP/1.1\r\nHost: 127.0.0.1:8\r\n\r\n", "404"),
        ("GET /back HTTP/1.1\r\n\r\n", "404"),
        ("GET /back HTTP/1.1\r\nHost: 127.0.0.1:7\r\nHost: evil.example\r\n\r\n", "404"),
        // Not HTTP.
        ("\r\n\r\n", "400"), ("GET /back\r\n\r\n", "400"), ("GET  /back HTTP/1.1\r\n\r\n", "400"),
        ("GET /b\u{e4}ck HTTP/1.1\r\nHost: 127.0.0.1:7\r\n\r\n", "400"),
        ("GET /back HTTP/1.1\r\nHost : 127.0.0.1:7\r\n\r\n", "400"),
        ("GET /back HTTP/1.1\r\nHost: 127.0.0.1:7\r\n folded\r\n\r\n", "400"),
        ("GET /back HTTP/1.1\r\nHost: 127.0.0.1:7\r\nA: \0\r\n\r\n", "400"),
        ("GET /back HTTP/1.1\r\nHost: 127.0.0.1:7\r\nA: b\rc\r\n\r\n", "400"),
    ])
    func `A GET for the redirect URI`(head: String, expected: String) {
        #expect(outcome(head) == expected)
    }

    @Test(arguments: [
        ("\(form)Content-Length: 0\r\n", "/back 0"), ("\(form)Content-Length: 1000\r\n", "/back 1000"),
        ("\(form)Content-Length: 0001\r\n", "/back 1"),
        ("\(form)Content-Length: 1001\r\n", "413"), ("\(form)Content-Length: 99999999999999999999999\r\n", "413"),
        ("\(form)Content-Length: -1\r\n", "400"), ("\(form)Content-Length: +1\r\n", "400"),
        ("\(form)Content-Length: \r\n", "400"),
        ("\(form)Content-Length: 1, 1\r\n", "400"), ("\(form)Content-Length: 0x1\r\n", "400"),
        ("\(form)Content-Length: 1\r\nContent-Length: 1\r\n", "400"),
        ("\(form)Content-Length: 1\r\ncontent-length: 2\r\n", "400"),
        (form, "411"), ("\(form)Transfer-Encoding: chunked\r\n", "411"),
        ("\(form)Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "411"),
        ("Content-Length: 1\r\n", "415"), ("Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 1\r\n", "415"),
        ("\(form)\(form)Content-Length: 1\r\n", "415"),
        ("Content-Type: APPLICATION/X-WWW-FORM-URLENCODED ;charset=UTF-8\r\nContent-Length: 1\r\n", "/back 1"),
    ])
    func `A form for the redirect URI`(lines: String, expected: String) {
        #expect(outcome("POST /back HTTP/1.1\r\nHost: 127.0.0.1:7\r\n\(lines)\r\n", isFormPost: true) == expected)
    }

    @Test func `A GET is refused where a form is expected`() {
        #expect(outcome("GET /back?code=c HTTP/1.1\r\nHost: 127.0.0.1:7\r\n\r\n", isFormPost: true) == "404")
    }
}
