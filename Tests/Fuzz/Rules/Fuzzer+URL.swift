import CCurl
import NevodSupport

@testable import NevodHost

extension Fuzzer {
    /// URLs of operands and settings.
    static let url = Fuzzer("url") { input in
        if let origin = try? Origin(input.text) {
            expect((try? Origin(origin.description)) == origin, "an origin is read as it was written")
            expect((try? HTTPRequest(.get, input.text))?.target == "/", "an origin has no path: \(input.text.debugDescription)")
        }
        guard let request = try? HTTPRequest(.get, input.text) else { return }
        checkURL(of: request)
    }

    /// A URL, and on the next line the Location of a response to it.
    static let location = Fuzzer("location") { input in
        let lines = input.lines
        guard lines.count >= 2, var request = try? HTTPRequest(.get, lines[0]) else { return }
        request.provenance = .token("fuzzed")
        guard (try? request.setHeader("X-Key", secret)) != nil else { return }
        request.appendQueryItem("key".utf8, secret.utf8)
        var headers = HTTPHeaders()
        headers.add("Location", lines[1], by: .host)
        let response = HTTPResponse(version: .http11, status: 307, reason: "", headers: headers, body: .bytes([]))
        var chain = RedirectChain(.follow(limit: 1))
        guard case .follow(let next)? = try? chain.next(after: response, to: request, sent: request) else { return }
        checkURL(of: next)
        guard next.origin != request.origin else { return }
        expect(!next.headers.contains("X-Key"), "a token's header stays at its origin")
        expect(!next.url.utf8.contains(subsequence: secret.utf8), "a token's query item stays at its origin")
        // If we resolve a URL differently than others, it may lead to a host that nobody has checked.
        guard let other = CurlURL(request.url, lines[1]), let origin = other.origin else { return }
        expect(
            origin == next.origin.description || !lines[1].utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F },
            "\(lines[1].debugDescription) leads to \(next.origin), and in libcurl to \(origin)")
    }

    private static let secret = "s3cr3t0fth3t0k3n"

    private static func checkURL(of request: HTTPRequest) {
        expect(request.target.utf8.first == UInt8(ascii: "/"), "a target begins with a slash")
        expect(request.target.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "a target is printable ASCII")
        expect(request.origin.authority.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "an authority is printable ASCII")
        let again = try? HTTPRequest(.get, request.url)
        expect(again?.origin == request.origin && again?.target == request.target, "\(request.url) is read as it was written")
        let peer = CurlURL("\(request.origin)/")
        expect(peer != nil, "libcurl accepts \(request.origin)")
        expect(peer?.port == String(request.origin.port), "libcurl reads the same port in \(request.origin)")
    }
}

extension Collection where Element == UInt8 {
    fileprivate func contains(subsequence other: some Collection<UInt8>) -> Bool {
        indices.contains { self[$0...].starts(with: other) }
    }
}

/// A URL as libcurl parses it.
private struct CurlURL: ~Copyable {
    private let handle: OpaquePointer

    /// - Parameter reference: is resolved against the text.
    init?(_ text: String, _ reference: String? = nil) {
        guard let handle = curl_url() else { return nil }
        guard curl_url_set(handle, CURLUPART_URL, text, 0) == CURLUE_OK,
            reference.map({ curl_url_set(handle, CURLUPART_URL, $0, 0) == CURLUE_OK }) ?? true
        else {
            curl_url_cleanup(handle)
            return nil
        }
        self.handle = handle
    }

    deinit { curl_url_cleanup(handle) }

    var port: String? { part(CURLUPART_PORT, UInt32(CURLU_DEFAULT_PORT)) }

    /// In the form of ``Origin``. Nil for schemes other than http and https, and for a host that libcurl writes differently, such
    /// as `127.1`.
    var origin: String? {
        guard let scheme = part(CURLUPART_SCHEME), let host = part(CURLUPART_HOST)?.lowercased(), let port,
            scheme == "http" || scheme == "https", !host.utf8.contains(UInt8(ascii: "[")),
            !host.utf8.allSatisfy({ (0x2E...0x39).contains($0) }), host.utf8.allSatisfy({ $0 < 0x80 })
        else { return nil }
        return port == (scheme == "https" ? "443" : "80") ? "\(scheme)://\(host)" : "\(scheme)://\(host):\(port)"
    }

    private func part(_ part: CURLUPart, _ flags: UInt32 = 0) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, part, &text, flags) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
