import NevodHost
import NevodSupport
import Testing

/// A request of a table of cases.
struct Sent {
    var method = HTTPMethod.post
    var url = "https://api.example.com:8443/a%2Fb/ø%?b=2&a=3&b=1&&a&a-b=0"
    var headers: [(name: String, value: String)] = []
    var body: HTTPBody = .bytes(Array("Hello".utf8))

    static func get(_ url: String) -> Sent { Sent(method: .get, url: url, body: .none) }

    static func body(_ text: String, _ type: String? = nil) -> Sent {
        Sent(headers: type.map { [("Content-Type", $0)] } ?? [], body: .bytes(Array(text.utf8)))
    }

    func request() throws -> HTTPRequest {
        var request = try HTTPRequest(method, url, body: body)
        for header in headers { try request.addHeader(header.name, header.value) }
        return request
    }
}

/// A template, and the bytes that it makes from a request.
struct Evaluation {
    let template: String
    /// A Python expression for the expected bytes.
    let expected: String
    var sent = Sent()
    var settings: [String: String] = [:]
    /// Statements before the template.
    var before = ""
    var time = someTime

    init(
        _ template: String, _ expected: String, _ sent: Sent = Sent(), settings: [String: String] = [:], before: String = "",
        at time: Int64 = someTime
    ) {
        (self.template, self.expected, self.sent, self.settings, self.before, self.time) =
            (template, expected, sent, settings, before, time)
    }

    /// A chain of filters for a text. The text is given as hexadecimal digits, so that none of its bytes has a special meaning.
    static func filter(_ chain: String, of input: String, _ expected: String) -> Evaluation {
        filter(chain, of: Array(input.utf8), expected)
    }

    static func filter(_ chain: String, of input: [UInt8], _ expected: String) -> Evaluation {
        Evaluation("{input|from-hex|\(chain)}", expected, before: "let input = \(Hexadecimal.text(input))")
    }

    private func recipe() -> String {
        """
        accept unbound-signature
        accept unsigned-time
        accept unsigned-nonce
        \(before)
        let tested = \(template)
        header X-Value = {tested|hex}
        header X-Sign = {target|hmac:sha256:secret|hex}
        """
    }

    func value() throws -> String? {
        try sign(sent.request(), recipe: recipe(), settings.merging(["api-key": "demo"]) { given, _ in given }, at: time)
            .headers["X-Value"]
    }

    /// Compares all values with Python's.
    static func check(_ cases: [Evaluation]) throws {
        let expected = try Python.evaluate(cases.map { "(\($0.expected)).hex()" })
        for (test, expected) in zip(cases, expected) {
            do {
                #expect(try test.value() == expected, "\(test.template) \(test.before)")
            } catch {
                Issue.record("\(test.template) \(test.before): \(error)")
            }
        }
    }
}
