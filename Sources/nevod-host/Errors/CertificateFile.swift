import Glibc
import NevodHost

/// Examines a file of certificates or keys that libcurl could not use, to tell a person why.
struct CertificateFile {
    let path: String
    private let text: String
    /// The reason why the file can't be read; nil if it can.
    let problem: String?

    private static let maximumSize = 8 << 20

    init(_ path: String) {
        self.path = path
        var info = stat()
        if stat(path, &info) != 0 {
            (text, problem) = ("", String(cString: strerror(errno)))
        } else if info.st_mode & S_IFMT != S_IFREG {
            (text, problem) = ("", info.st_mode & S_IFMT == S_IFDIR ? "it is a folder" : "it is not a regular file")
        } else if access(path, R_OK) != 0 {
            (text, problem) = ("", String(cString: strerror(errno)))
        } else {
            text = (try? readFile(path, limit: Self.maximumSize)).map { String(decoding: $0, as: UTF8.self) } ?? ""
            problem = nil
        }
    }

    var hasCertificate: Bool { text.contains("CERTIFICATE-----") }
    var hasKey: Bool { text.contains("PRIVATE KEY-----") }
    var hasEncryptedKey: Bool { text.contains("ENCRYPTED PRIVATE KEY-----") || text.contains("Proc-Type: 4,ENCRYPTED") }
}

extension ErrorText {
    /// Names the file of `--cacert`, `--cert` or `--key` that the transport could not use, and why; nil for another error.
    func certificateProblem(_ error: TransportError) -> String? {
        guard let arguments else { return nil }
        switch error.curlCode {
        case 77: return authorityProblem(arguments)
        case 58: return clientProblem(arguments)
        default: return nil
        }
    }

    private func authorityProblem(_ arguments: Arguments) -> String? {
        let variable = ["CURL_CA_BUNDLE", "SSL_CERT_FILE"].first { environment($0)?.isEmpty == false }
        guard let path = arguments.value(.caFile) ?? variable.flatMap(environment) else { return nil }
        let file = CertificateFile(path)
        let flag = arguments.has(.caFile) ? source(of: .caFile) : "the environment variable \(variable ?? "")"
        let problem = file.problem ?? (file.hasCertificate ? "its certificates are damaged" : "it holds no certificate")
        return
            "the file of \(flag) can't be used: \(problem); give a file of certificates in PEM form (BEGIN CERTIFICATE): \(path)"
    }

    private func clientProblem(_ arguments: Arguments) -> String? {
        guard let path = arguments.value(.certificate) else { return nil }
        let certificate = CertificateFile(path)
        let key = arguments.value(.key).map(CertificateFile.init)
        func problem(_ name: Flag.Name, _ text: String, _ wayOut: String, _ path: String) -> String {
            "the file of \(source(of: name)) can't be used: \(text); \(wayOut): \(path)"
        }
        if let text = certificate.problem { return problem(.certificate, text, "give a certificate in PEM form", path) }
        guard certificate.hasCertificate else {
            return problem(.certificate, "it holds no certificate", "give a certificate in PEM form (BEGIN CERTIFICATE)", path)
        }
        let owner = key ?? certificate
        let name: Flag.Name = key == nil ? .certificate : .key
        if let text = owner.problem { return problem(name, text, "give the private key in PEM form", owner.path) }
        guard owner.hasKey else {
            return key == nil
                ? problem(.certificate, "it holds no private key", "give the key's file with --key FILE", path)
                : problem(.key, "it holds no private key", "give the private key in PEM form (BEGIN PRIVATE KEY)", owner.path)
        }
        guard !owner.hasEncryptedKey else {
            return problem(
                name, "its private key is encrypted", "decrypt it into a file of mode 0600: openssl pkey -in KEY -out FILE",
                owner.path)
        }
        return problem(
            name, "its private key doesn't belong to the certificate, or is damaged", "give two files that belong together",
            owner.path
        )
    }
}
