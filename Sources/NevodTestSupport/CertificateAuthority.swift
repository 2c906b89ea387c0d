/// A private certificate authority, made by openssl, with certificates for servers on loopback.
package final class CertificateAuthority: Sendable {
    private let folder: TemporaryFolder
    /// The path of the authority's own certificate.
    package var certificate: String { "\(folder.path)/ca.pem" }

    private static let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]

    /// - Parameter names: the servers to certify, each with a key of its own. All are certified for `localhost`, its subdomains
    ///   `api` and `a.b`, and 127.0.0.1.
    package static func make(_ names: String...) async throws -> CertificateAuthority {
        try await onOwnThread { try CertificateAuthority(names) }
    }

    private init(_ names: [String]) throws {
        folder = try TemporaryFolder()
        let path = folder.path
        _ = try Command.output(
            ["openssl", "req", "-x509"] + Self.key + ["-subj", "/CN=ca", "-keyout", "\(path)/ca.key", "-out", "\(path)/ca.pem"])
        for name in names {
            let (key, certificate) = ("\(path)/\(name).key", "\(path)/\(name).pem")
            _ = try Command.output(
                ["openssl", "req", "-x509"] + Self.key + [
                    "-subj", "/CN=\(name)", "-CA", "\(path)/ca.pem", "-CAkey", "\(path)/ca.key", "-keyout", key, "-out",
                    certificate,
                    "-addext", "basicConstraints=critical,CA:FALSE", "-addext",
                    "subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:api.localhost,DNS:a.b.localhost",
                ])
            try folder.write("\(name).both", contents(of: key) + contents(of: certificate))
        }
    }

    /// The path of a file with a server's key and certificate.
    package func server(_ name: String) -> String { "\(folder.path)/\(name).both" }

    /// The digest of a server's public key, computed by openssl, as curl takes it.
    package func pin(_ name: String) async throws -> String {
        let path = "\(folder.path)/\(name).pem"
        return try await onOwnThread {
            let script = """
                set -o pipefail; openssl x509 -in "$0" -noout -pubkey | openssl pkey -pubin -outform DER \
                | openssl dgst -sha256 -binary | openssl base64 -A
                """
            return "sha256//" + (try Command.output(["bash", "-c", script, path]))
        }
    }
}
