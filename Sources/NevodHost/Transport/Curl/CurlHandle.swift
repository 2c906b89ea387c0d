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
    private let pins: PinnedKeys
    /// The pins for hosts without their own.
    private let pinnedPublicKey: String?
    private let clientCertificate: CurlSession.ClientCertificate?
    private var sendsClientCertificate = false
    private var opensConnection = false
    let maxHeaderSize: Int
    /// Nil if bodies are returned as received.
    let decompressionLimit: DecompressionLimit?
    private var headerBlock = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var headerNodes = UnsafeMutableBufferPointer<curl_slist>(start: nil, count: 0)
    private let proxyHeader = CurlProxyHeader()
    private let proxyUser: Secret?
    private var connectionLists: [CurlList] = []

    /// Sets the options shared by all requests of a session.
    ///
    /// - Throws: an error for a setting that libcurl refuses, and if memory runs out.
    init(_ configuration: CurlSession.Configuration) throws(TransportError) {
        guard let easy = curl_easy_init() else { throw Self.outOfMemory }
        guard let url = curl_url() else {
            curl_easy_cleanup(easy)
            throw Self.outOfMemory
        }
        self.easy = easy
        self.url = url
        // A Unix domain socket leads to the server or its substitute, so no proxy applies.
        proxy = configuration.connection.unixSocket == nil ? configuration.proxy : .none
        proxyUser = configuration.proxyUser
        pins = configuration.pins
        pinnedPublicKey = configuration.pinnedPublicKey
        clientCertificate = configuration.clientCertificate
        maxHeaderSize = configuration.maxHeaderSize
        // libcurl's own decompression isn't used: it accepts a body that ends in the middle of its coding, and doesn't limit
        // growth.
        decompressionLimit = configuration.decompresses ? configuration.decompressionLimit : nil
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText[0] = 0
        try setPointer(CURLOPT_ERRORBUFFER, errorText)
        try setLong(CURLOPT_NOSIGNAL, 1)
        try setLong(CURLOPT_PATH_AS_IS, 1)
        try setLong(CURLOPT_TCP_KEEPALIVE, 1)
        try setString(CURLOPT_PROTOCOLS_STR, "http,https")
        // The proxy is chosen here, not by libcurl: requests to a proxy have a different form, and their header lines must not be
        // sent with CONNECT.
        try setString(CURLOPT_NOPROXY, "")
        try setLong(CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE))
        try setLong(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        try setTLS(configuration)
        connectionLists = try setConnection(configuration.connection)
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

    static let outOfMemory = TransportError(.other, "libcurl has no memory for a transfer", curlCode: 27)

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
            try setPointer(option, context)
        }
        errorText[0] = 0
        try setOrigin(request.origin)
        try setClientCertificate(transfer.options.sendsClientCertificate)
        try setNewConnection(transfer.options.sendsOnce)
        try setTarget(of: request)
        try setLong(CURLOPT_TIMEOUT_MS, transfer.options.timeout?.milliseconds ?? 0)
        try setLong(CURLOPT_CONNECTTIMEOUT_MS, transfer.options.connectTimeout.milliseconds)
        try setBody(request)
        try setString(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
        try setHeaders(request.headers)
        // libcurl sends this list only to HTTP proxies.
        if let list = proxyHeader.replace(with: request.proxyAuthorization) { try setPointer(CURLOPT_PROXYHEADER, list) }
    }

    /// Sets a parsed URL, and replaces it only when the origin changes: libcurl would parse a string for each request.
    private func setOrigin(_ origin: Origin) throws(TransportError) {
        guard origin != self.origin else { return }
        self.origin = nil
        try pins.check(origin)
        let code = curl_url_set(url, CURLUPART_URL, "\(origin)/", 0)
        guard code == CURLUE_OK else {
            throw TransportError(
                .other, "libcurl refuses the address \(origin): \(String(cString: curl_url_strerror(code)))", curlCode: 3)
        }
        try setPointer(CURLOPT_CURLU, UnsafeMutableRawPointer(url))
        let proxy = proxy.proxy(for: origin)
        try setString(CURLOPT_PROXY, proxy ?? "")
        if let proxyUser { try setProxyUser(proxy == nil ? nil : proxyUser) }
        // libcurl reuses a connection only with the same pins, so it doesn't take a connection that was opened with others.
        if !pins.isEmpty { try setString(CURLOPT_PINNEDPUBLICKEY, pins.text(for: origin.host) ?? pinnedPublicKey) }
        self.origin = origin
    }

    /// Sets name and password separately: libcurl would percent-decode a combined value. libcurl prefers the name and password in
    /// the proxy's URL.
    private func setProxyUser(_ user: Secret?) throws(TransportError) {
        let parts = user?.withUnsafeBytes { bytes in
            bytes.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
                .map { String(decoding: $0, as: UTF8.self) }
        }
        try setString(CURLOPT_PROXYUSERNAME, parts?.first)
        try setString(CURLOPT_PROXYPASSWORD, parts.map { $0.count > 1 ? $0[1] : "" })
    }

    /// The URL of the proxy for an origin, without credentials; nil to connect directly.
    func shownProxy(for origin: Origin) -> String? {
        guard let url = proxy.proxy(for: origin) else { return nil }
        let start = url.range(ofASCII: "://")?.upperBound ?? url.startIndex
        guard let at = url.utf8.lastIndex(of: UInt8(ascii: "@")), at >= start else { return url }
        return "\(url[..<start])\(url[url.utf8.index(after: at)...])"
    }

    /// Sets the request-target: absolute-form for an `http` request through an HTTP proxy, which forwards it in origin-form
    /// (RFC 9112 §3.2.2); otherwise origin-form.
    private func setTarget(of request: HTTPRequest) throws(TransportError) {
        let proxy = request.origin.scheme == .http ? proxy.proxy(for: request.origin) : nil
        let isAbsolute = proxy.map { !$0.hasPrefix("socks") } ?? false
        try setString(CURLOPT_REQUEST_TARGET, isAbsolute ? request.url : request.target)
    }

    /// Whether the server's certificate was rejected because it names its host only in its common name, if at all.
    var certificateNamesNoHost: Bool {
        long(CURLINFO_SSL_VERIFYRESULT) == nevod_no_alternative_name
    }

    private func setTLS(_ configuration: CurlSession.Configuration) throws(TransportError) {
        // Without a subjectAltName, libcurl accepts the common name, which RFC 9110 §4.3.4 forbids.
        guard nevod_easy_require_alternative_name(easy) == CURLE_OK else {
            throw TransportError(.tlsConfiguration, "libcurl isn't built with OpenSSL")
        }
        // Older versions are broken (RFC 8996), even if the system's OpenSSL still allows them.
        try setLong(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        if let file = configuration.caFile { try setString(CURLOPT_CAINFO, file) }
        if let key = configuration.pinnedPublicKey { try setString(CURLOPT_PINNEDPUBLICKEY, key) }
        try setClientCertificate(true)
    }

    /// libcurl reuses a connection only with the same certificate, so a request without the certificate doesn't use a connection
    /// that was opened with it.
    private func setClientCertificate(_ isSent: Bool) throws(TransportError) {
        guard let client = clientCertificate, isSent != sendsClientCertificate else { return }
        sendsClientCertificate = isSent
        try setString(CURLOPT_SSLCERT, isSent ? client.certificateFile : nil)
        if let key = client.keyFile { try setString(CURLOPT_SSLKEY, isSent ? key : nil) }
        // libcurl copies the passphrase and never wipes its copy. The copy is needed whenever the session opens a connection.
        if let passphrase = client.keyPassphrase {
            let text = passphrase.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
            try setString(CURLOPT_KEYPASSWD, isSent ? text : nil)
        }
    }

    /// If a reused connection closes before the response's first byte, libcurl repeats the request, whatever its method. Only a
    /// new connection prevents that.
    private func setNewConnection(_ isNew: Bool) throws(TransportError) {
        guard isNew != opensConnection else { return }
        try setLong(CURLOPT_FRESH_CONNECT, isNew ? 1 : 0)
        opensConnection = isNew
    }

    var metrics: TransferMetrics {
        TransferMetrics(
            nameLookup: seconds(CURLINFO_NAMELOOKUP_TIME_T), connect: seconds(CURLINFO_CONNECT_TIME_T),
            tls: seconds(CURLINFO_APPCONNECT_TIME_T), preTransfer: seconds(CURLINFO_PRETRANSFER_TIME_T),
            firstByte: seconds(CURLINFO_STARTTRANSFER_TIME_T), total: seconds(CURLINFO_TOTAL_TIME_T),
            uploaded: number(CURLINFO_SIZE_UPLOAD_T), downloaded: number(CURLINFO_SIZE_DOWNLOAD_T),
            requestHeadSize: long(CURLINFO_REQUEST_SIZE), responseHeadSize: long(CURLINFO_HEADER_SIZE),
            newConnections: long(CURLINFO_NUM_CONNECTS))
    }

    func long(_ info: CURLINFO) -> Int {
        var value = 0
        nevod_easy_get_long(easy, info, &value)
        return value
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
    var connectStatus: Int { long(CURLINFO_HTTP_CONNECTCODE) }

    /// The peer that the last transfer connected to, or tried to.
    var peer: CurlPeer? {
        var number = 0
        nevod_easy_get_long(easy, CURLINFO_OS_ERRNO, &number)
        return origin.map { CurlPeer(origin: $0, proxyURL: shownProxy(for: $0), systemCode: Int32(truncatingIfNeeded: number)) }
    }

    /// Wipes everything that belongs to the request, so that an idle handle holds no secrets.
    func forgetRequest() {
        headerBlock.wipe()
        forget(CURLOPT_HTTPHEADER)
        if proxyHeader.wipe() { forget(CURLOPT_PROXYHEADER) }
        forget(CURLOPT_POSTFIELDS)
        forget(CURLOPT_PRIVATE)
    }

    /// libcurl's message for the last failure.
    var errorMessage: String { String(cString: errorText) }

    private func setBody(_ request: HTTPRequest) throws(TransportError) {
        try setLong(CURLOPT_HTTPGET, 1)
        let length: Int64
        switch request.body {
        case .none, .bytes([]):
            if request.method == .head { try setLong(CURLOPT_NOBODY, 1) }
            return
        case .bytes(let bytes):
            length = Int64(bytes.count)
            try setLong(CURLOPT_POST, 1)
            nevod_easy_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(length))
            // With COPYPOSTFIELDS, libcurl sends a short body in one packet with the header lines.
            if bytes.count <= 16 << 10 {
                bytes.withUnsafeBytes { _ = nevod_easy_set_string(easy, CURLOPT_COPYPOSTFIELDS, $0.baseAddress) }
            }
        case .stream(let stream) where stream.length == 0: return
        case .stream(let stream):
            try setLong(CURLOPT_POST, 1)
            nevod_easy_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(stream.length ?? -1))
        }
    }

    /// libcurl rejects strings of more than 8,000,000 bytes, and with a proxy the origin precedes the target.
    private static let maxTargetLength = 7_990_000

    /// Lines that libcurl would otherwise add, in the form that suppresses them.
    private static let suppressed: [StaticString] = ["Expect:", "Content-Type:", "Accept:", "User-Agent:", "Accept-Encoding:"]

    private func setHeaders(_ headers: HTTPHeaders) throws(TransportError) {
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
        try setPointer(CURLOPT_HTTPHEADER, first)
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

    // MARK: Setters. They fail for a value that libcurl refuses, such as one of more than 8 MB, and for a feature that it lacks.

    func setLong(_ option: CURLoption, _ value: Int) throws(TransportError) {
        try Self.check(nevod_easy_set_long(easy, option, value), option)
    }

    func setString(_ option: CURLoption, _ value: String?) throws(TransportError) {
        try Self.check(nevod_easy_set_string(easy, option, value), option)
    }

    func setPointer(_ option: CURLoption, _ value: UnsafeMutableRawPointer?) throws(TransportError) {
        try Self.check(nevod_easy_set_pointer(easy, option, value), option)
    }

    /// libcurl accepts nil for each of these options, so this can't fail.
    private func forget(_ option: CURLoption) {
        nevod_easy_set_pointer(easy, option, nil)
    }

    private static func check(_ code: CURLcode, _ option: CURLoption) throws(TransportError) {
        guard code != CURLE_OK else { return }
        let setting =
            switch option {
            case CURLOPT_CAINFO: "the path of the file with certificates"
            case CURLOPT_PINNEDPUBLICKEY: "the pinned public key"
            case CURLOPT_SSLCERT, CURLOPT_SSLKEY, CURLOPT_KEYPASSWD: "the client's certificate, key or passphrase"
            case CURLOPT_PROXY: "the proxy's URL"
            case CURLOPT_PROXYUSERNAME, CURLOPT_PROXYPASSWORD: "the proxy's user or password"
            case CURLOPT_SSL_CIPHER_LIST, CURLOPT_TLS13_CIPHERS: "the list of ciphers"
            case CURLOPT_UNIX_SOCKET_PATH, CURLOPT_ABSTRACT_UNIX_SOCKET: "the path of the Unix domain socket"
            case CURLOPT_INTERFACE: "the interface"
            case CURLOPT_HTTP_VERSION: "the version of HTTP"
            case CURLOPT_SSLVERSION: "the version of TLS"
            case CURLOPT_CUSTOMREQUEST: "the method"
            case CURLOPT_REQUEST_TARGET: "the request-target"
            default: "option \(option.rawValue)"
            }
        throw TransportError(
            .other, "libcurl refuses \(setting): \(String(cString: curl_easy_strerror(code)))", curlCode: Int32(code.rawValue))
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
        guard seconds >= 0 else { return 1 }
        return max(1, Int(seconds) * 1000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000))
    }
}
