import NevodHost

extension ConnectionDetails {
    /// The lines of `-v` about a connection.
    ///
    ///     connected to example.com (192.0.2.1) port 443
    ///     TLSv1.3, TLS_AES_256_GCM_SHA384
    ///     certificate of CN = example.com, issued by C = US, O = Example, expires 2027-01-31T12:00:00Z
    func lines(for origin: Origin) -> [String] {
        guard !remoteAddress.isEmpty else { return [] }
        let place = proxy.map { "the proxy \($0)" } ?? origin.host
        let port = remotePort > 0 ? " port \(remotePort)" : ""
        var lines = ["\(isReused ? "reusing the connection" : "connected") to \(place) (\(remoteAddress))\(port)"]
        guard let tls else { return lines }
        lines.append("\(tls.version), \(tls.cipher)")
        // The certificate was checked when the connection was made.
        guard !isReused, let certificate = tls.certificate else { return lines }
        let subject = certificate.subject.isEmpty ? "no subject" : certificate.subject
        lines.append(
            "certificate of \(subject), issued by \(certificate.issuer), expires \(StoredSession.text(of: certificate.notAfter))")
        return lines
    }
}
