import Foundation
import NevodHost
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHostFoundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

struct PinnedURLSessionTests {
    private static let pin = "sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="

    #if !canImport(Security)
        @Test func `Where a pin would never be compared, it is refused`() throws {
            let pins = try PinnedKeys(["localhost": [Self.pin]])
            let error = #expect(throws: TransportError.self) { try PinnedURLSession(pins: pins) }
            #expect(error?.code == .tlsConfiguration && error?.message.contains("use a CurlSession") == true)
        }

        /// The reason for rejecting pins. If this fails, Foundation now asks, so pins can be compared on Linux too.
        @Test func `Foundation on Linux asks no delegate about a server's certificate`() async throws {
            final class Delegate: NSObject, URLSessionTaskDelegate {
                let asked = Collected<String>()

                func urlSession(
                    _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
                    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
                ) {
                    asked.append(challenge.protectionSpace.authenticationMethod)
                    completionHandler(.performDefaultHandling, nil)
                }

                func urlSession(
                    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
                    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
                ) {
                    asked.append(challenge.protectionSpace.authenticationMethod)
                    completionHandler(.performDefaultHandling, nil)
                }
            }
            let authority = try await CertificateAuthority.make("here")
            let server = try await ProbeServer.start("echo", [authority.server("here")])
            let delegate = Delegate()
            let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
            defer { session.invalidateAndCancel() }
            let url = try #require(URL(string: server.url))
            // The system doesn't know its authority.
            await #expect(throws: URLError.self) { _ = try await session.data(from: url) }
            #expect(delegate.asked.values.isEmpty)
        }
    #endif

    /// Apple's Security framework returns a part of a key, here made by openssl. It must become the bytes that openssl hashes.
    @Test(arguments: [
        ["rsa", "rsa_keygen_bits:2048"], ["rsa", "rsa_keygen_bits:3072"], ["rsa", "rsa_keygen_bits:4096"],
        ["ec", "ec_paramgen_curve:P-256"], ["ec", "ec_paramgen_curve:P-384"], ["ec", "ec_paramgen_curve:P-521"],
    ])
    func `A public key has the form that openssl gives it`(kind: [String]) async throws {
        let lines = try await onOwnThread {
            let script = """
                set -e -o pipefail
                key=$(openssl genpkey -algorithm "$0" -pkeyopt "$1" 2>/dev/null)
                openssl pkey -pubout -outform DER <<<"$key" | base64 -w 0; echo
                if [ "$0" = rsa ]; then openssl rsa -RSAPublicKey_out -outform DER <<<"$key" 2>/dev/null | base64 -w 0; fi; echo
                """
            return try Command.output(["bash", "-c", script] + kind).split(separator: "\n", omittingEmptySubsequences: false)
        }
        let info = Array(try #require(Data(base64Encoded: String(lines[0]))))
        if kind[0] == "rsa" {
            let key = Array(try #require(Data(base64Encoded: String(lines[1]))))
            #expect(SubjectPublicKeyInfo.rsa(key) == info)
        } else {
            // The point is at the end.
            let size = try #require([91: 65, 120: 97, 158: 133][info.count])
            #expect(SubjectPublicKeyInfo.elliptic(Array(info.suffix(size))) == info)
        }
    }

    @Test func `A point of an unknown curve has no form`() {
        #expect(SubjectPublicKeyInfo.elliptic([4] + [UInt8](repeating: 1, count: 56)) == nil)
        #expect(SubjectPublicKeyInfo.elliptic([]) == nil)
    }
}
