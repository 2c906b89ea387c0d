internal import CCurl
internal import NevodSupport

/// Owns an easy handle and the memory that libcurl borrows during a transfer. Used only on the loop's thread.
final class CurlHandle {
    let easy: UnsafeMutableRawPointer
    private let errorText: UnsafeMutablePointer<CChar>
    /// The URL to connect to; the request-target is set separately.
    private let url: OpaquePointer
    private var origin: Origin?
    private let proxy: ProxySettings
    let maxHeaderSize: Int
    /// Nil if bodies are returned as received.
    let decompressionLimit: DecompressionLimit?
    private var headerBlock = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var headerNodes = UnsafeMutableBufferPointer<curl_slist>(start: nil, count: 0)
    private let proxyHeader = CurlProxyHeader()

    /// Sets the options shared by all requests of a session.
    init?(_ configuration: CurlSession.Configuration) {
        guard let easy = curl_easy_init() else { return nil }
        guard let url = curl_url() else {
            curl_easy_cleanup(easy)
            return nil
        }
        self.easy = easy
        self.url = url
        proxy = configuration.proxy
        maxHeaderSize = configuration.maxHeaderSize
        // Not libcurl's own: it takes a body that ends in the middle of its coding for complete, and limits no growth.
        decompressionLimit = configuration.decompresses ? configuration.decompressionLimit : nil
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText[0] = 0
        setPointer(CURLOPT_ERRORBUFFER, errorText)
        setLong(CURLOPT_NOSIGNAL, 1)
        setLong(CURLOPT_PATH_AS_IS, 1)
        setLong(CURLOPT_TCP_KEEPALIVE, 1)
        setString(CURLOPT_PROTOCOLS_STR, "http,https")
        // The proxy is chosen here, not by libcurl: requests to a proxy have another form, and their header lines must not be
        // sent with CONNECT.
        setString(CURLOPT_NOPROXY, "")
        setLong(CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE))
        setLong(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        setTLS(configuration)
        nevod_easy_set_data_function(easy, CURLOPT_HEADERFUNCTION) { data, _, count, context in
            context.map { CurlHandle.transfer($0).receiveHeader(UnsafeBufferPointer(data, count)) } == true ? count : 0
        }
        nevod_easy_set_data_function(easy, CURLOPT_WRITEFUNCTION) { data, _, count, context in
            context.map { CurlHandle.transfer($0).receiveBody(UnsafeBufferPointer(data, count)) } ?? 0
        }
        nevod_easy_set_data_function(easy, CURLOPT_READFUNCTION) { data, size, count, context in
            context.map { CurlHandle.transfer($0).sendBody(UnsafeMutableRawBufferPointer(start: data, count: size * count)) }
                ?? Int(CURL_READFUNC_ABORT)
        }
        nevod_easy_set_seek_function(easy) { context, offset, origin in
            guard let context else { return CURL_SEEKFUNC_FAIL }
            return CurlHandle.transfer(context).rewindBody(to: Int64(offset), from: origin)
                ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL
        }
    }

    deinit {
        curl_easy_cleanup(easy)
        curl_url_cleanup(url)
        errorText.deallocate()
        headerBlock.wipe()
        headerBlock.deallocate()
        headerNodes.deallocate()
    }

    /// Sets the options of one request. The transfer must stay alive until the handle is removed from the multi handle.
    func prepare(_ transfer: CurlTransfer) throws(TransportError) {
        let request = transfer.request
        // libcurl sends no body with HEAD, where it has no defined meaning (RFC 9110 §9.3.2).
        guard request.method != .head || request.body.length == 0 else {
            throw TransportError(.requestBody, "a HEAD request can't have one")
        }
        guard request.target.utf8.count <= Self.maxTargetLength else {
            throw TransportError(.other, "the request-target is longer than \(Self.maxTargetLength) bytes")
        }
        let context = Unmanaged.passUnretained(transfer).toOpaque()
        for option in [CURLOPT_PRIVATE, CURLOPT_HEADERDATA, CURLOPT_WRITEDATA, CURLOPT_READDATA, CURLOPT_SEEKDATA] {
            setPointer(option, context)
        }
        errorText[0] = 0
        setOrigin(request.origin)
        setTarget(of: request)
        setLong(CURLOPT_TIMEOUT_MS, transfer.options.timeout?.milliseconds ?? 0)
        setLong(CURLOPT_CONNECTTIMEOUT_MS, transfer.options.connectTimeout.milliseconds)
        setBody(request)
        setString(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
        setHeaders(request.headers)
        // libcurl sends this list only to HTTP proxies.
        if let list = proxyHeader.replace(with: request.proxyAuthorization) { setPointer(CURLOPT_PROXYHEADER, list) }
    }

    /// Sets a parsed URL, replaced only when the origin changes: libcurl would parse a string for each request.
    private func setOrigin(_ origin: Origin) {
        guard origin != self.origin else { return }
        let code = curl_url_set(url, CURLUPART_URL, "\(origin)/", 0)
        precondition(code == CURLUE_OK, "libcurl can't parse the origin \(origin)")
        setPointer(CURLOPT_CURLU, UnsafeMutableRawPointer(url))
        setString(CURLOPT_PROXY, proxy.proxy(for: origin) ?? "")
        self.origin = origin
    }

    /// Sets the request-target: absolute-form for an `http` request through an HTTP proxy, which forwards it in origin-form
    /// (RFC 9112 §3.2.2); otherwise origin-form.
    private func setTarget(of request: HTTPRequest) {
        let proxy = request.origin.scheme == .http ? proxy.proxy(for: request.origin) : nil
        let isAbsolute = proxy.map { !$0.hasPrefix("socks") } ?? false
        setString(CURLOPT_REQUEST_TARGET, isAbsolute ? request.url : request.target)
    }

    /// Whether the server's certificate was rejected because it names its host only in its common name, if at all.
    var certificateNamesNoHost: Bool {
        var result = 0
        nevod_easy_get_long(easy, CURLINFO_SSL_VERIFYRESULT, &result)
        return result == nevod_no_alternative_name
    }

    private func setTLS(_ configuration: CurlSession.Configuration) {
        // libcurl takes the common name if there is no subjectAltName, which RFC 9110 §4.3.4 forbids.
        let code = nevod_easy_require_alternative_name(easy)
        precondition(code == CURLE_OK, "libcurl isn't built with OpenSSL")
        if let file = configuration.caFile { setString(CURLOPT_CAINFO, file) }
        if let key = configuration.pinnedPublicKey { setString(CURLOPT_PINNEDPUBLICKEY, key) }
        guard let client = configuration.clientCertificate else { return }
        setString(CURLOPT_SSLCERT, client.certificateFile)
        if let key = client.keyFile { setString(CURLOPT_SSLKEY, key) }
        client.keyPassphrase?.withUnsafeBytes { bytes in
            // libcurl copies the passphrase and never wipes its copy; it is needed as long as the session opens connections.
            setString(CURLOPT_KEYPASSWD, String(decoding: bytes, as: UTF8.self))
        }
    }

    var metrics: TransferMetrics {
        TransferMetrics(
            nameLookup: seconds(CURLINFO_NAMELOOKUP_TIME_T), connect: seconds(CURLINFO_CONNECT_TIME_T),
            tls: seconds(CURLINFO_APPCONNECT_TIME_T), firstByte: seconds(CURLINFO_STARTTRANSFER_TIME_T),
            total: seconds(CURLINFO_TOTAL_TIME_T), uploaded: number(CURLINFO_SIZE_UPLOAD_T),
            downloaded: number(CURLINFO_SIZE_DOWNLOAD_T), newConnections: connections)
    }

    private var connections: Int {
        var count = 0
        nevod_easy_get_long(easy, CURLINFO_NUM_CONNECTS, &count)
        return count
    }

    private func seconds(_ info: CURLINFO) -> Double {
        Double(number(info)) / 1e6
    }

    private func number(_ info: CURLINFO) -> Int {
        var value: curl_off_t = 0
        nevod_easy_get_offset(easy, info, &value)
        return Int(value)
    }

    /// The status of a proxy's response to CONNECT; 0 if there was no CONNECT.
    var connectStatus: Int {
        var status = 0
        nevod_easy_get_long(easy, CURLINFO_HTTP_CONNECTCODE, &status)
        return status
    }

    /// Wipes everything that belongs to the request, so that an idle handle holds no secrets.
    func forgetRequest() {
        headerBlock.wipe()
        setPointer(CURLOPT_HTTPHEADER, nil)
        if proxyHeader.wipe() { setPointer(CURLOPT_PROXYHEADER, nil) }
        setPointer(CURLOPT_POSTFIELDS, nil)
        setPointer(CURLOPT_PRIVATE, nil)
    }

    /// libcurl's message for the last failure.
    var errorMessage: String { String(cString: errorText) }

    private func setBody(_ request: HTTPRequest) {
        setLong(CURLOPT_HTTPGET, 1)
        let length: Int64
        switch request.body {
        case .none, .bytes([]):
            if request.method == .head { setLong(CURLOPT_NOBODY, 1) }
            return
        case .bytes(let bytes):
            length = Int64(bytes.count)
            setLong(CURLOPT_POST, 1)
            nevod_easy_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(length))
            // With COPYPOSTFIELDS, libcurl sends a short body in one packet with the header lines.
            if bytes.count <= 16 << 10 {
                bytes.withUnsafeBytes { _ = nevod_easy_set_string(easy, CURLOPT_COPYPOSTFIELDS, $0.baseAddress) }
            }
        case .stream(let stream) where stream.length == 0: return
        case .stream(let stream):
            setLong(CURLOPT_POST, 1)
            nevod_easy_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(stream.length ?? -1))
        }
    }

    /// libcurl rejects strings of more than 8,000,000 bytes, and with a proxy the origin precedes the target.
    private static let maxTargetLength = 7_990_000

    /// Lines that libcurl would otherwise add, in the form that suppresses them.
    private static let suppressed: [StaticString] = ["Expect:", "Content-Type:", "Accept:", "User-Agent:", "Accept-Encoding:"]

    private func setHeaders(_ headers: HTTPHeaders) {
        if headerBlock.count < headers.storage.count {
            headerBlock.wipe()
            headerBlock.deallocate()
            headerBlock = .allocate(byteCount: max(1024, headers.storage.count * 2), alignment: 1)
        }
        headerBlock.copyBytes(from: headers.storage)
        let count = headers.lines.count + Self.suppressed.count
        if headerNodes.count < count {
            headerNodes.deallocate()
            headerNodes = .allocate(capacity: count * 2)
        }
        var used = 0
        for line in headers.lines {
            let text = headerBlock.baseAddress?.advanced(by: line.start).assumingMemoryBound(to: CChar.self)
            headerNodes.initializeElement(at: used, to: curl_slist(data: text, next: nil))
            used += 1
        }
        for line in Self.suppressed where !headers.contains(String(line.description.dropLast())) {
            let text = UnsafeMutablePointer(mutating: UnsafeRawPointer(line.utf8Start).assumingMemoryBound(to: CChar.self))
            headerNodes.initializeElement(at: used, to: curl_slist(data: text, next: nil))
            used += 1
        }
        guard let first = headerNodes.baseAddress else { return }
        for index in 0..<used - 1 { headerNodes[index].next = first + index + 1 }
        setPointer(CURLOPT_HTTPHEADER, first)
    }

    // MARK: Callbacks

    private static func transfer(_ context: UnsafeMutableRawPointer) -> CurlTransfer {
        Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
    }

    static func transfer(of easy: UnsafeMutableRawPointer) -> CurlTransfer? {
        var context: UnsafeMutableRawPointer?
        nevod_easy_get_private(easy, &context)
        return context.map(transfer)
    }

    // MARK: Setters. They fail only if memory runs out or libcurl lacks a required feature.

    private func setLong(_ option: CURLoption, _ value: Int) {
        let code = nevod_easy_set_long(easy, option, value)
        precondition(code == CURLE_OK, "libcurl refuses option \(option.rawValue)")
    }

    private func setString(_ option: CURLoption, _ value: String) {
        let code = nevod_easy_set_string(easy, option, value)
        precondition(code == CURLE_OK, "libcurl refuses option \(option.rawValue)")
    }

    private func setPointer(_ option: CURLoption, _ value: UnsafeMutableRawPointer?) {
        let code = nevod_easy_set_pointer(easy, option, value)
        precondition(code == CURLE_OK, "libcurl refuses option \(option.rawValue)")
    }
}

extension UnsafeBufferPointer where Element == UInt8 {
    fileprivate init(_ data: UnsafeMutablePointer<CChar>?, _ count: Int) {
        self.init(start: UnsafeRawPointer(data)?.assumingMemoryBound(to: UInt8.self), count: count)
    }
}

extension Duration {
    /// Whole milliseconds for libcurl: rounded up, since zero means no limit, and clamped to its range.
    fileprivate var milliseconds: Int {
        let (seconds, attoseconds) = components
        guard seconds < Int64(Int32.max) / 1000 else { return Int(Int32.max) }
        return max(1, Int(seconds) * 1000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000))
    }
}
