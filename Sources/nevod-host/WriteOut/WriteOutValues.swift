import NevodHost
import NevodSupport

/// The values of the variables of `--write-out` for one operation.
struct WriteOutValues {
    /// The URL as typed.
    let url: String
    /// The number of the URL, from 0.
    let urlNumber: Int
    /// The transfers since the last retry, which count together, as for curl: redirects and answers to challenges.
    private let hops: [Hop]
    private let retries: Int
    /// Nil unless the operation failed.
    let failure: (code: Int32, message: String)?
    /// The file of the body, also if none was written; nil for standard output.
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

    /// The first value of a header line of the last response, as curl prints it. A server may repeat a credential.
    func header(_ name: String) -> String? { response?.headers[name].map(Redaction.shared.value) }

    /// All variables in one line.
    var json: String {
        let members = WriteOutVariable.Name.allCases.map { "\"\($0.rawValue)\":\(self[$0].json)" }
        return "{" + members.joined(separator: ",") + ",\"curl_version\":\"nevod-host/\(Version.text)\"}"
    }

    /// The header lines of the last response: an array of values for each name, in lower case.
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

    /// The URL of the last request, in which the values that a plugin wrote are redacted: its credential may be in the query, and a
    /// redirect may repeat it.
    private var effectiveURL: String {
        guard let hop = hops.last else { return url }
        let shown = Redaction.shared.url(hop.request.shownURL)
        // A fragment isn't sent, and a redirect leaves it behind.
        guard !hops.contains(where: { $0.reason == .redirect }), let mark = url.firstIndex(of: "#") else { return shown }
        return shown + url[mark...]
    }

    private var certificateFields: [[String]] {
        hops.last { $0.connection?.certificateFields.isEmpty == false }?.connection?.certificateFields ?? []
    }

    /// All fields, each with a line break.
    private var certificates: String {
        certificateFields.joined().map { field in
            let text = field.hasPrefix("Cert:") ? String(field.dropFirst(5)) : field
            return text.hasSuffix("\n") ? text : text + "\n"
        }.joined()
    }
}
