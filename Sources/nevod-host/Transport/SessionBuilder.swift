import NevodHost
import NevodSupport

/// Builds the transport's configuration, and the options of a request, from the flags.
struct SessionBuilder {
    let arguments: Arguments

    func configuration() throws -> CurlSession.Configuration {
        // The variables of curl and OpenSSL.
        let certificates = ["CURL_CA_BUNDLE", "SSL_CERT_FILE"].compactMap(environment).first { !$0.isEmpty }
        return CurlSession.Configuration(
            caFile: arguments.value(.caFile) ?? certificates,
            pinnedPublicKey: arguments.value(.pinnedKey),
            clientCertificate: try clientCertificate(),
            proxy: try proxy(),
            decompresses: arguments.has(.compressed),
            proxyUser: try proxyUser(),
            connection: try ConnectionBuilder(arguments: arguments).settings())
    }

    /// Returns the largest allowed response body in bytes; `.max` without `--max-filesize`.
    func maxFileSize() throws -> Int64 {
        guard let text = arguments.value(.maxFileSize) else { return .max }
        guard let size = Int64(digits: text.utf8) else {
            throw UsageError("--max-filesize \(text) is not a number of bytes")
        }
        return size
    }

    private func clientCertificate() throws -> CurlSession.ClientCertificate? {
        guard let file = arguments.value(.certificate) else {
            guard !arguments.has(.key) else { throw UsageError("--key needs a --cert") }
            return nil
        }
        return CurlSession.ClientCertificate(certificateFile: file, keyFile: arguments.value(.key))
    }
}
