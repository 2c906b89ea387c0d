import NevodHost
import NevodSupport

/// The values of the variables of `--write-out` for one operation.
struct WriteOutValues {
    /// The URL as typed.
    let url: String
    /// The number of the URL, from 0.
    let urlNumber: Int
    /// The transfers since the last retry: redirects and responses to challenges. As in curl, they count together.
    private let hops: [Hop]
    private let retries: Int
    /// Nil unless the operation failed.
    let failure: (code: Int32, message: String)?
    /// The body's file, even if it was not written; nil for standard output.
    let filename: String?

    init(url: String, urlNumber: Int, hops: [Hop], failure: (code: Int32, message: String)?, filename: String?) {
        self.url = url
        self.urlNumber = urlNumber
        let start = hops.lastIndex { $0.reason == .retry } ?? hops.startIndex
        self.hops = Array(hops[start...])
        retries = hops.count { $0.reason == .retry }
        self.failure = failure
        self.filename = filename
    }

    subscript(_ name: WriteOutVariable.Name) -> WriteOutValue {
        switch name {
        case .certs: .text(certificates)
        case .certificateCount: .number(certificateFields.count)
        case .contentType: .text(header("Content-Type"))
        case .errorMessage: .text(failure?.message)
        case .exitCode: .number(Int(failure?.code ?? 0))
        case .effectiveFilename: .text(filename)
        case .entryPath: .text(nil)
        case .httpCode, .responseCode: .status(response?.status ?? 0)
        case .httpConnect: .status(connection?.connectStatus ?? 0)
        case .httpVersion: .text(httpVersion)
        case .localIP: .text(connection?.localAddress ?? "")
        case .localPort: .number(connection?.localPort ?? 0)
        case .method: .text(hops.last?.request.method.rawValue ?? "GET")
        case .connectCount: .number(sum(\.newConnections))
        case .headerCount: .number(response?.headers.count { _ in true } ?? 0)
        case .redirectCount: .number(hops.count { $0.reason == .redirect })
        case .retryCount: .number(retries)
        case .proxyVerifyResult: .number(0)
        case .proxyUsed: .number(connection?.proxy == nil ? 0 : 1)
        case .redirectURL: .text(redirectURL.map(Redaction.shared.url))
        case .referer: .text(hops.last?.request.headers["Referer"].map(Redaction.shared.url))
        case .remoteIP: .text(connection?.remoteAddress ?? "")
        case .remotePort: .number(connection?.remotePort ?? 0)
        case .scheme: .text(scheme)
        case .downloadSize: .number(metrics.downloaded)
        case .headerSize: .number(sum(\.responseHeadSize))
        case .requestSize: .number(sum(\.requestHeadSize))
        case .uploadSize: .number(metrics.uploaded)
        case .downloadSpeed: .number(speed(metrics.downloaded))
        case .uploadSpeed: .number(speed(metrics.uploaded))
        case .verifyResult: .number(connection?.verificationResult ?? 0)
        case .tlsTime: .seconds(seconds(\.tls))
        case .connectTime: .seconds(seconds(\.connect))
        case .lookupTime: .seconds(seconds(\.nameLookup))
        case .preTransferTime: .seconds(seconds(\.preTransfer))
        case .redirectTime: .seconds(hops.dropLast().reduce(0) { $0 + ($1.metrics?.total ?? 0) })
        case .firstByteTime: .seconds(seconds(\.firstByte))
        case .totalTime: .seconds(seconds(\.total))
        case .url: .text(url)
        case .effectiveURL: .text(effectiveURL)
        case .urlNumber: .number(urlNumber)
        }
    }

    /// The first value of a header of the last response, as in curl. Redacted, since a server may repeat a credential.
    func header(_ name: String) -> String? { response?.headers[name].map(Redaction.shared.value) }

    /// All variables, as JSON on one line.
    var json: String {
        let members = WriteOutVariable.Name.allCases.map { "\"\($0.rawValue)\":\(self[$0].json)" }
        return "{" + members.joined(separator: ",") + ",\"curl_version\":\"nevod-host/\(Version.text)\"}"
    }

    /// The header of the last response, as JSON: an array of values for each lower-case name.
    var headerJSON: String {
        var names: [String] = []
        var values: [String: [String]] = [:]
        for line in response?.headers.map({ $0 }) ?? [] {
            let name = line.name.lowercased()
            if values[name] == nil { names.append(name) }
            values[name, default: []].append(JSON.string(Redaction.shared.value(line.value)).text)
        }
        let members = names.map { "\(JSON.string($0).text):[\((values[$0] ?? []).joined(separator: ","))]" }
        return "{" + members.joined(separator: ",\n") + "\n}"
    }

    private var response: HTTPResponse? { hops.last?.response }
    private var connection: ConnectionDetails? { hops.last?.connection }
    private var metrics: TransferMetrics { hops.last?.metrics ?? TransferMetrics() }

    private func seconds(_ value: (TransferMetrics) -> Double) -> Double {
        hops.reduce(0) { $0 + ($1.metrics.map(value) ?? 0) }
    }

    private func sum(_ value: (TransferMetrics) -> Int) -> Int {
        hops.reduce(0) { $0 + ($1.metrics.map(value) ?? 0) }
    }

    /// Bytes per second.
    private func speed(_ bytes: Int) -> Int {
        let time = seconds(\.total)
        return time > 0 && bytes > 0 ? Int(exactly: (Double(bytes) / time).rounded(.down)) ?? 0 : 0
    }

    private var httpVersion: String {
        guard let version = response?.version else { return "0" }
        return version.rawValue
    }

    private var scheme: String? {
        guard let hop = hops.last, hop.response != nil || hop.connection?.remoteAddress.isEmpty == false else { return nil }
        return hop.request.origin.scheme.rawValue.uppercased()
    }

    private var redirectURL: String? {
        guard let hop = hops.last, let response = hop.response, (300..<400).contains(response.status) else { return nil }
        return hop.request.redirectURL(of: response)
    }

    /// The URL of the last request, without the values that a plugin wrote: its credential may be in the query, and a redirect
    /// may repeat it.
    private var effectiveURL: String {
        guard let hop = hops.last else { return url }
        let shown = Redaction.shared.url(hop.request.shownURL)
        // A fragment isn't sent, and a redirect drops it.
        guard !hops.contains(where: { $0.reason == .redirect }), let mark = url.firstIndex(of: "#") else { return shown }
        return shown + url[mark...]
    }

    private var certificateFields: [[String]] {
        hops.last { $0.connection?.certificateFields.isEmpty == false }?.connection?.certificateFields ?? []
    }

    /// All certificate fields, each with a line break.
    private var certificates: String {
        certificateFields.joined().map { field in
            let text = field.hasPrefix("Cert:") ? String(field.dropFirst(5)) : field
            return text.hasSuffix("\n") ? text : text + "\n"
        }.joined()
    }
}

/// The value of a variable of `--write-out`.
enum WriteOutValue: Sendable, Equatable {
    /// Nil if there is no text.
    case text(String?)
    case number(Int)
    /// A status in three digits; `000` if there is no response.
    case status(Int)
    case seconds(Double)

    func text(inMicroseconds: Bool = false) -> String {
        switch self {
        case .text(let text): text ?? ""
        case .number(let number): "\(number)"
        case .status(let status): status.padded(to: 3)
        case .seconds(let seconds): inMicroseconds ? "\(Self.microseconds(seconds))" : Self.sixDigits(seconds)
        }
    }

    var json: String {
        switch self {
        case .text(nil): "null"
        case .text(let text?): JSON.string(text).text
        case .number(let number), .status(let number): "\(number)"
        case .seconds(let seconds): Self.sixDigits(seconds)
        }
    }

    private static func microseconds(_ seconds: Double) -> Int {
        guard seconds.isFinite, seconds > 0, seconds < 1e12 else { return 0 }
        return Int((seconds * 1e6).rounded())
    }

    /// `0.012345`
    private static func sixDigits(_ seconds: Double) -> String {
        let all = microseconds(seconds)
        return "\(all / 1_000_000).\((all % 1_000_000).padded(to: 6))"
    }
}

/// A variable of `--write-out`.
struct WriteOutVariable: Sendable, Equatable {
    /// curl's names, in the order of `%{json}`.
    enum Name: String, Sendable, CaseIterable {
        case certs
        case contentType = "content_type"
        case errorMessage = "errormsg"
        case exitCode = "exitcode"
        case effectiveFilename = "filename_effective"
        case entryPath = "ftp_entry_path"
        case httpCode = "http_code"
        case httpConnect = "http_connect"
        case httpVersion = "http_version"
        case localIP = "local_ip"
        case localPort = "local_port"
        case method
        case certificateCount = "num_certs"
        case connectCount = "num_connects"
        case headerCount = "num_headers"
        case redirectCount = "num_redirects"
        case retryCount = "num_retries"
        case proxyVerifyResult = "proxy_ssl_verify_result"
        case proxyUsed = "proxy_used"
        case redirectURL = "redirect_url"
        case referer
        case remoteIP = "remote_ip"
        case remotePort = "remote_port"
        case responseCode = "response_code"
        case scheme
        case downloadSize = "size_download"
        case headerSize = "size_header"
        case requestSize = "size_request"
        case uploadSize = "size_upload"
        case downloadSpeed = "speed_download"
        case uploadSpeed = "speed_upload"
        case verifyResult = "ssl_verify_result"
        case tlsTime = "time_appconnect"
        case connectTime = "time_connect"
        case lookupTime = "time_namelookup"
        case preTransferTime = "time_pretransfer"
        case redirectTime = "time_redirect"
        case firstByteTime = "time_starttransfer"
        case totalTime = "time_total"
        case url
        case effectiveURL = "url_effective"
        case urlNumber = "urlnum"
    }

    let name: Name
    /// Whether to print a time in whole microseconds instead of seconds.
    let isInMicroseconds: Bool

    private init(_ name: Name, isInMicroseconds: Bool) {
        self.name = name
        self.isInMicroseconds = isInMicroseconds
    }

    /// - Parameter text: one of curl's names, in lower case; for a time, optionally with `_us` at its end.
    init?(named text: String) {
        if let name = Name(rawValue: text) {
            self.init(name, isInMicroseconds: false)
        } else if text.hasSuffix("_us"), text.hasPrefix("time_"), let name = Name(rawValue: String(text.dropLast(3))) {
            self.init(name, isInMicroseconds: true)
        } else {
            return nil
        }
    }

    /// All spellings, for suggestions.
    static var spellings: [String] {
        Name.allCases.map(\.rawValue) + ["json", "header_json", "onerror", "stdout", "stderr"]
    }
}
