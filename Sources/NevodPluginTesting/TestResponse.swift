public import NevodSupport

/// A server's response: what `on_response` sees, and what a ``ScriptedServer`` sends.
public struct TestResponse: Sendable, Equatable {
    /// 100 … 599.
    public var status: Int
    /// Every line, in order.
    public var headers: TestHeaders
    /// As received.
    public var body: [UInt8]

    /// Makes a response with a body of bytes.
    public init(_ status: Int = 200, headers: TestHeaders = [:], body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Makes a response with a text as its body, or without a body.
    public init(_ status: Int = 200, headers: TestHeaders = [:], body: String = "") {
        self.init(status, headers: headers, body: Array(body.utf8))
    }

    /// Returns a response with a JSON body, of the type `application/json`.
    public static func json(_ value: JSONValue, status: Int = 200, headers: TestHeaders = [:]) -> TestResponse {
        var headers = headers
        headers.add("Content-Type", "application/json")
        let text = value.encoded
        return TestResponse(status, headers: headers, body: text.withUnsafeBytes { Array($0) })
    }

    func contract(url: String) -> ContractResponse {
        ContractResponse(Int32(clamping: status), headers: headers.pairs, body: body, url: Array(url.utf8))
    }
}
