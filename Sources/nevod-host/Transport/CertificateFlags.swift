import NevodHost
import NevodSupport

/// The certificates by which a server is verified, and the one that this program shows to a server.
extension SessionBuilder {
    /// The file of `--cacert`, or else of the variables of curl and OpenSSL; nil for the system's authorities.
    var authorities: String? {
        arguments.value(.caFile) ?? ["CURL_CA_BUNDLE", "SSL_CERT_FILE"].compactMap(environment).first { !$0.isEmpty }
    }

    /// The certificate of `--cert`, with the key of `--key` or of the same file.
    func clientCertificate() throws -> CurlSession.ClientCertificate? {
        guard let file = arguments.value(.certificate) else {
            guard !arguments.has(.key) else { throw UsageError("--key needs a --cert") }
            return nil
        }
        return CurlSession.ClientCertificate(certificateFile: file, keyFile: arguments.value(.key))
    }
}
