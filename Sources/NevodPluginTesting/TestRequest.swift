internal import NevodSupport

/// A request as an app makes it: what `authorize` gets, and what a flow sends to a ``ScriptedServer``.
///
/// ```swift
/// let request = TestRequest("POST", "https://api.example.com/orders", headers: ["Accept": "*/*"], body: "{}")
/// ```
public struct TestRequest: Sendable, Equatable {
    /// The method, as sent.
    public var method: String
    /// Absolute, with `http` or `https`.
    public var url: String
    /// Without `Host`, which the host adds.
    public var headers: TestHeaders
    /// Empty for none.
    public var body: [UInt8]

    /// Makes a request with a body of bytes.
    public init(_ method: String, _ url: String, headers: TestHeaders = [:], body: [UInt8]) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }

    /// Makes a request with a text as its body, or without a body.
    public init(_ method: String, _ url: String, headers: TestHeaders = [:], body: String = "") {
        self.init(method, url, headers: headers, body: Array(body.utf8))
    }

    /// The body as text; bytes that are not UTF-8 are replaced.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The path of the URL, without query and fragment.
    public var path: String {
        let target = ContractRequest(method, url)?.target ?? ""
        return String(target.prefix { $0 != "?" })
    }

    /// The first value of an item of the form in the body, or else of the query; nil if there is none.
    public func formValue(_ name: String) -> String? {
        let query = url.prefix { $0 != "#" }.drop { $0 != "?" }.dropFirst()
        for fields in [Substring(text), query] {
            for item in fields.split(separator: "&") {
                let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2, Self.decoded(parts[0]) == name else { continue }
                return Self.decoded(parts[1])
            }
        }
        return nil
    }

    private static func decoded(_ text: Substring) -> String {
        String(decoding: PercentEncoding.decoded(text.utf8), as: UTF8.self)
    }

    func contract() throws(TestFailure) -> ContractRequest {
        guard
            let request = ContractRequest(method, url, headers: headers.pairs, body: body.isEmpty ? .none : .bytes(body))
        else { throw TestFailure("\"\(url)\" is not an absolute URL with http or https") }
        return request
    }

    init(_ request: ContractFlowRequest) {
        self.init(
            String(decoding: request.method, as: UTF8.self), String(decoding: request.url, as: UTF8.self),
            headers: TestHeaders(request.headers), body: request.body)
    }
}
