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
    /// Whether a time is printed in whole microseconds, and not in seconds.
    let isInMicroseconds: Bool

    private init(_ name: Name, isInMicroseconds: Bool) {
        self.name = name
        self.isInMicroseconds = isInMicroseconds
    }

    /// - Parameter text: in lower case; a name of curl's, or that of a time with `_us`.
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
