import NevodSupport
import NevodTestSupport
import Testing

@testable import CookieAuth

struct FormBodyTests {
    @Test(arguments: [
        "multipart/form-data; boundary=b", "multipart/form-data;boundary=b", "Multipart/FORM-data; charset=x; BOUNDARY=\"b\"",
        "multipart/form-data ; boundary=b ; x=y", "multipart/form-data;\tboundary=b\t", "multipart/form-data;;boundary=b;",
    ])
    func `A boundary is found`(type: String) {
        guard case .multipart("b") = FormBody(contentType: type) else {
            Issue.record("\(String(describing: FormBody(contentType: type)))")
            return
        }
    }

    @Test(arguments: [
        "", ";", "=", "text/html", "application/x-www-form-urlencodedx", "multipart/form-data", "multipart/form-data; boundary",
        "multipart/form-data; boundary=", "multipart/form-data; boundary=\"\"",
        "multipart/form-data; boundary=\(String(repeating: "b", count: 71))",
        "multipart/mixed; boundary=b", "multipart/form-data; xboundary=b", "multipart/form-data\u{301}; boundary=b",
    ])
    func `Other types are no form`(type: String) {
        #expect(FormBody(contentType: type) == nil)
    }

    @Test func `A boundary has at most 70 bytes`() {
        let boundary = String(repeating: "b", count: 70)
        guard case .multipart(boundary) = FormBody(contentType: "multipart/form-data; boundary=\"\(boundary)\"") else {
            Issue.record("none")
            return
        }
    }

    private func added(_ type: String, _ body: String, _ name: String = "t k", _ value: String = "a&b=c d") -> String? {
        FormBody(contentType: type)?.adding(name, value, to: Array(body.utf8)).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(
        arguments: [
            ("", "t+k=a%26b%3Dc+d"), ("x=1", "t+k=a%26b%3Dc+d&x=1"), ("t+k=own", nil), ("x=1&t+k=own", nil), ("x=1&t+k=", nil),
            ("at+k=1", "t+k=a%26b%3Dc+d&at+k=1"), ("x=t+k=1", "t+k=a%26b%3Dc+d&x=t+k=1"),
            // The same name, encoded in another way.
            ("t%20k=own", nil), ("%74+k=own", nil), ("t+k", nil),
        ] as [(String, String?)])
    func `A field is put in front of a form, unless the caller sends it`(body: String, result: String?) {
        #expect(added("application/x-www-form-urlencoded", body) == result)
    }

    private static func part(_ disposition: String) -> String {
        "--b\r\nContent-Disposition: form-data; \(disposition)\r\n\r\nvalue\r\n--b--\r\n"
    }

    @Test(arguments: [
        (#"name="x""#, true), (#"name="t""#, false), ("name=t", false), (#"name="x"; filename="t""#, true), (#"NAME="t""#, false),
        (#"filename="name=\"t\""; name="x""#, true),
    ])
    func `A part is put in front of the others, unless the caller sends it`(disposition: String, isAdded: Bool) {
        let body = Self.part(disposition)
        let all = "--b\r\nContent-Disposition: form-data; name=\"t\"\r\n\r\nv\r\n" + body
        #expect(added("multipart/form-data; boundary=b", body, "t", "v") == (isAdded ? all : nil))
    }

    @Test(arguments: ["", "--", "--a\r\n", "preamble\r\n--b\r\n\r\n\r\n--b--"])
    func `A body that doesn't begin with its boundary stays as it is`(body: String) {
        #expect(added("multipart/form-data; boundary=b", body) == nil)
    }

    /// A file's content isn't a part's head.
    @Test func `A file that has the name in its content doesn't count`() {
        let body = "--b\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\n<input name=\"t\">\r\n--b--\r\n"
        #expect(
            added("multipart/form-data; boundary=b", body, "t", "v")?.hasPrefix(
                "--b\r\nContent-Disposition: form-data; name=\"t\"") == true)
    }

    /// A name from a setting must not end its line (HTML §4.10.22.7).
    @Test(arguments: ["a\"b", "a\r\nX: 1", "a\nb"])
    func `A name with a quote or a line end stays one name`(name: String) {
        let text = added("multipart/form-data; boundary=b", "--b--\r\n", name, "v") ?? ""
        let line = text.split(separator: "\r\n", omittingEmptySubsequences: false).dropFirst().first ?? ""
        #expect(line.hasPrefix("Content-Disposition: form-data; name=\"a") && line.hasSuffix("\""))
        #expect(line.utf8.count { $0 == UInt8(ascii: "\"") } == 2 && !line.utf8.contains { $0 < 0x20 })
    }

    @Test(arguments: ["application/x-www-form-urlencoded", "multipart/form-data; boundary=b"])
    func `The search takes time in proportion to the body`(type: String) throws {
        let form = try #require(FormBody(contentType: type))
        let factor = try Growth.factor(
            20_000, { Array(String(repeating: "&t+kname=\"", count: $0 / 10).utf8) }, { _ = form.adding("t k", "v", to: $0) })
        #expect(factor < Growth.linear)
    }
}
