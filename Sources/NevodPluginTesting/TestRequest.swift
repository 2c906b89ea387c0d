public import NevodSupport

/// A request as an app makes it. `authorize` gets one, and a flow sends one to a ``ScriptedServer``.
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
    /// Empty if there is no body.
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

    /// The first value of an item of the form in the body or, if the form lacks it, of the query; nil if neither has it.
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

/// A server's response. `on_response` sees one, and a ``ScriptedServer`` sends one.
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

    /// Returns a response with a JSON body and the type `application/json`.
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

/// Header lines in order. Names may repeat, and are found in any letter case (RFC 9110 §5.1).
public struct TestHeaders: Sendable, Equatable, ExpressibleByDictionaryLiteral, CustomStringConvertible {
    /// A header line.
    public struct Line: Sendable, Equatable {
        /// The name, in the letter case in which it is sent.
        public let name: String
        /// The value. Bytes that are not UTF-8 are replaced.
        public let value: String

        /// Makes a line.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// All lines, in order.
    public private(set) var lines: [Line] = []

    /// Makes headers without lines.
    public init() {}

    public init(dictionaryLiteral elements: (String, String)...) {
        lines = elements.map { Line($0.0, $0.1) }
    }

    init(_ pairs: [ContractPair]) {
        lines = pairs.map { Line(String(decoding: $0.name, as: UTF8.self), String(decoding: $0.value, as: UTF8.self)) }
    }

    /// The value of the first line of a name; nil if there is none.
    public subscript(name: String) -> String? { values(of: name).first }

    /// The values of all lines of a name, in order.
    public func values(of name: String) -> [String] {
        lines.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    /// Appends a line.
    public mutating func add(_ name: String, _ value: String) { lines.append(Line(name, value)) }

    /// Replaces all lines of a name with one line, in the place of the first; appends the line if there are none.
    mutating func set(_ name: String, _ value: String) {
        let isOne = { (line: Line) in line.name.lowercased() == name.lowercased() }
        guard let first = lines.firstIndex(where: isOne) else { return add(name, value) }
        lines[first] = Line(name, value)
        let before = lines[...first]
        lines = before + lines[(first + 1)...].filter { !isOne($0) }
    }

    var pairs: [ContractPair] { lines.map { ContractPair($0.name, $0.value) } }

    /// One line of text for each header line.
    public var description: String { lines.map { "\($0.name): \($0.value)" }.joined(separator: "\n") }
}

/// A token as a host stores it: issued by a flow, or made up by a test.
public struct TestToken: Sendable, Equatable {
    /// The bytes, which only the scheme understands.
    public var bytes: [UInt8]
    /// Seconds since 1970-01-01T00:00:00Z; nil if unknown.
    public var expiresAt: Int64?
    /// The account it belongs to; may be empty.
    public var account: String

    /// Makes a token.
    public init(_ bytes: [UInt8], expiresAt: Int64? = nil, account: String = "") {
        self.bytes = bytes
        self.expiresAt = expiresAt
        self.account = account
    }

    /// Makes a token from a text.
    public init(_ text: String, expiresAt: Int64? = nil, account: String = "") {
        self.init(Array(text.utf8), expiresAt: expiresAt, account: account)
    }

    init(_ token: ContractToken) {
        let seconds = token.expiresAt / 1_000_000_000
        self.init(
            token.bytes, expiresAt: token.expiresAt > 0 ? seconds : nil, account: String(decoding: token.account, as: UTF8.self))
    }

    var contract: ContractToken {
        let (time, overflow) = (expiresAt ?? 0).multipliedReportingOverflow(by: 1_000_000_000)
        return ContractToken(bytes, expiresAt: overflow ? .max : time, account: Array(account.utf8))
    }

    /// The bytes as text; bytes that are not UTF-8 are replaced.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
}
