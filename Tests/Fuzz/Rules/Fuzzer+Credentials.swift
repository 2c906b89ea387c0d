@testable import NevodHost
@testable import nevod_host

extension Fuzzer {
    /// The input of git's credential helpers.
    static let gitCredential = Fuzzer("git-credential") { input in
        guard let request = try? GitCredential(input.array) else { return }
        for scheme in ["bearer", "basic"] where request.challenges.isEmpty {
            expect(request.mayUse(scheme), "without a challenge, each scheme may be used")
        }
        guard let url = request.url else { return }
        guard let parsed = try? HTTPRequest(.get, url) else { return }
        expect(parsed.origin.scheme.rawValue == request.protocolName, "the URL has git's protocol")
        // The origin chooses a profile, so nothing in the host may name another origin.
        let host = request.host.utf8.prefix { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "[") }
        if host.allSatisfy({
            $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") && $0 != UInt8(ascii: "%")
        }),
            // A number is an address, and gets the usual form.
            !host.isEmpty, !host.allSatisfy({ "0123456789abcdefABCDEFxX.".utf8.contains($0) })
        {
            expect(parsed.origin.host == String(decoding: host, as: UTF8.self).lowercased(), "the URL has git's host")
        }
    }

    /// The variable KUBERNETES_EXEC_INFO.
    static let execCredential = Fuzzer("exec-credential") { input in
        guard let request = try? ExecCredential(input.text) else { return }
        expect(request.version.hasPrefix("client.authentication.k8s.io/v1"), "the version is one that is known")
        let response = request.response(token: "a", expiry: nil).text
        expect((try? ExecCredential(response))?.version == request.version, "a response has the request's version")
    }
}
