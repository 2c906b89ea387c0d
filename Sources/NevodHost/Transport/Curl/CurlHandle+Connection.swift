internal import CCurl

extension CurlHandle {
    /// Sets how connections are made.
    ///
    /// - Returns: the lists that libcurl borrows from now on.
    func setConnection(_ settings: ConnectionSettings) throws(TransportError) -> [CurlList] {
        guard settings != ConnectionSettings() else { return [] }
        let lists = [
            try setList(CURLOPT_RESOLVE, settings.addresses), try setList(CURLOPT_CONNECT_TO, settings.connectTo),
        ]
        switch settings.unixSocket {
        case .path(let path): try setString(CURLOPT_UNIX_SOCKET_PATH, path)
        case .abstract(let name): try setString(CURLOPT_ABSTRACT_UNIX_SOCKET, name)
        case nil: break
        }
        switch settings.ipVersion {
        case .any: break
        case .v4: try setLong(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V4))
        case .v6: try setLong(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V6))
        }
        try setVersions(settings)
        if let interface = settings.interface { try setString(CURLOPT_INTERFACE, interface) }
        if let ports = settings.localPorts {
            try setLong(CURLOPT_LOCALPORT, Int(ports.lowerBound))
            try setLong(CURLOPT_LOCALPORTRANGE, Int(ports.upperBound - ports.lowerBound) + 1)
        }
        if let speed = settings.maxSpeed {
            nevod_easy_set_offset(easy, CURLOPT_MAX_SEND_SPEED_LARGE, curl_off_t(speed))
            nevod_easy_set_offset(easy, CURLOPT_MAX_RECV_SPEED_LARGE, curl_off_t(speed))
        }
        if settings.reportsCertificateFields { try setLong(CURLOPT_CERTINFO, 1) }
        return lists.compactMap { $0 }
    }

    private func setVersions(_ settings: ConnectionSettings) throws(TransportError) {
        switch settings.httpVersion {
        case .automatic: break
        case .http11: try setLong(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        case .http2: try setLong(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2_0))
        case .http2PriorKnowledge: try setLong(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE))
        }
        if settings.minimumTLS != nil || settings.maximumTLS != nil {
            let lowest =
                switch settings.minimumTLS {
                case .v12: Int(CURL_SSLVERSION_TLSv1_2)
                case .v13: Int(CURL_SSLVERSION_TLSv1_3)
                case nil: Int(CURL_SSLVERSION_DEFAULT)
                }
            let highest =
                switch settings.maximumTLS {
                case .v12: Int(CURL_SSLVERSION_MAX_TLSv1_2)
                case .v13: Int(CURL_SSLVERSION_MAX_TLSv1_3)
                case nil: Int(CURL_SSLVERSION_MAX_NONE)
                }
            try setLong(CURLOPT_SSLVERSION, lowest | highest)
        }
        if let ciphers = settings.ciphers { try setString(CURLOPT_SSL_CIPHER_LIST, ciphers) }
        if let ciphers = settings.tls13Ciphers { try setString(CURLOPT_TLS13_CIPHERS, ciphers) }
    }

    private func setList(_ option: CURLoption, _ texts: [String]) throws(TransportError) -> CurlList? {
        guard !texts.isEmpty else { return nil }
        guard let list = CurlList(texts) else { throw Self.outOfMemory }
        try setPointer(option, list.first)
        return list
    }
}

extension CurlHandle {
    /// The transfer's connection, once the response has begun or the transfer has failed.
    func connectionDetails(for origin: Origin) -> ConnectionDetails {
        ConnectionDetails(
            remoteAddress: text(CURLINFO_PRIMARY_IP), remotePort: long(CURLINFO_PRIMARY_PORT),
            localAddress: text(CURLINFO_LOCAL_IP), localPort: long(CURLINFO_LOCAL_PORT),
            isReused: long(CURLINFO_NUM_CONNECTS) == 0, proxy: shownProxy(for: origin), connectStatus: connectStatus,
            verificationResult: long(CURLINFO_SSL_VERIFYRESULT), tls: tls, certificateFields: certificateFields)
    }

    private var tls: ConnectionDetails.TLS? {
        guard let session = nevod_easy_get_tls(easy), let version = SSL_get_version(session),
            let cipher = SSL_CIPHER_get_name(SSL_get_current_cipher(session))
        else { return nil }
        return ConnectionDetails.TLS(
            version: String(cString: version), cipher: String(cString: cipher), certificate: Self.certificate(of: session))
    }

    private static func certificate(of session: OpaquePointer) -> ConnectionDetails.Certificate? {
        guard let certificate = SSL_get1_peer_certificate(session) else { return nil }
        defer { X509_free(certificate) }
        return ConnectionDetails.Certificate(
            subject: name { nevod_certificate_name(certificate, 0, $0, Int32(clamping: $1)) },
            issuer: name { nevod_certificate_name(certificate, 1, $0, Int32(clamping: $1)) },
            notBefore: UnixTime(seconds: nevod_certificate_time(certificate, 0)),
            notAfter: UnixTime(seconds: nevod_certificate_time(certificate, 1)))
    }

    /// Longer names are cut.
    private static let longestName = 1024

    private static func name(_ write: (UnsafeMutablePointer<CChar>?, Int) -> Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: longestName) { buffer in
            let count = min(max(0, Int(write(buffer.baseAddress, buffer.count))), buffer.count)
            return String(decoding: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]), as: UTF8.self)
        }
    }

    private var certificateFields: [[String]] {
        var fields: [[String]] = []
        for index in 0..<nevod_easy_certificate_count(easy) {
            var lines: [String] = []
            var next = nevod_easy_certificate(easy, index)
            while let line = next?.pointee {
                line.data.map { lines.append(String(cString: $0)) }
                next = line.next.map { UnsafePointer($0) }
            }
            fields.append(lines)
        }
        return fields
    }

    private func text(_ info: CURLINFO) -> String {
        nevod_easy_get_text(easy, info).map { String(cString: $0) } ?? ""
    }
}
