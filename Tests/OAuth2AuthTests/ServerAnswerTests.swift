import NevodOAuth
import NevodSupport
import Testing

@testable import NevodPluginKit
@testable import OAuth2Auth

/// The errors that a server's responses lead to.
struct ServerAnswerTests {
    private func answer(_ status: Int, _ body: String, retryAfter: Int64? = nil, isFromProxy: Bool = false) -> ServerAnswer {
        let response = Array(body.utf8).withUnsafeBytes {
            EndpointResponse(status: status, body: $0, isFromProxy: isFromProxy)
        }
        return ServerAnswer(response, retryAfter: retryAfter)
    }

    @Test(arguments: [
        (400, #"{"error":"invalid_grant","error_description":"gone"}"#, "the server refused it: invalid_grant (gone)"),
        (
            401, #"{"error":"invalid_client"}"#,
            "was not accepted by the server with it: invalid_client; check it, and client-auth"
        ),
        (400, #"{"error":"invalid_scope"}"#, "was not accepted by the server with it: invalid_scope"),
        (400, #"{"error":"hiccup"}"#, "the server refused it: hiccup"),
        (503, #"{"error":"invalid_grant"}"#, "the server can't serve it now: status 503, invalid_grant"),
        (502, "", "the server can't serve it now: status 502"), (401, "", "the server refused it: status 401"),
        (200, #"{"ok":false}"#, "the server refused it: status 200"),
        (400, #"{"error":{"code":400,"message":"Bad"}}"#, "the server refused it: status 400 (Bad)"),
        (200, "<html>", "the server's response to it is not an OAuth response (status 200)"),
    ])
    func `A failure says what the server said`(status: Int, body: String, message: String) throws {
        let answer = answer(status, body)
        #expect(answer.failure(of: "it").message == message)
        #expect(throws: SchemeError.self) { try answer.success("it") }
    }

    @Test func `A failure names a proxy, and the wait that was asked for`() {
        let proxy = answer(407, "", isFromProxy: true).failure(of: "it")
        #expect(proxy.message == "the server can't serve it now: status 407 of a proxy")
        let busy = answer(429, "", retryAfter: 120).failure(of: "it")
        #expect(busy.message == "the server can't serve it now: status 429; it asks to wait for 120 s")
    }

    @Test func `A setting is blamed for its value`() {
        for (code, setting) in [
            ("unsupported_grant_type", "grant"), ("invalid_scope", "scope"), ("invalid_target", "resource or audience"),
            ("redirect_uri_mismatch", "redirect-uri"), ("invalid_client", "client-id"),
        ] {
            #expect(answer(400, "error=\(code)").failure(of: "it").subject == setting)
        }
    }

    @Test func `A reason shows nothing that was sent`() {
        var answer = answer(400, #"{"error":"invalid_grant","error_description":"no hunter2-hunter"}"#)
        answer.secrets = [Secret("hunter2-hunter")]
        #expect(answer.failure(of: "it").message == "the server refused it: invalid_grant")
    }
}
