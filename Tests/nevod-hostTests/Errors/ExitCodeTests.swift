import NevodHost
import Testing

@testable import nevod_host

@Suite struct ExitCodeTests {
    private static let documented = Set(ExitCode.documented.map(\.0))

    private static let kinds: [TransportError.Code] = [
        .cancelled, .hostNotFound, .connectionFailed, .timedOut, .tls, .tlsConfiguration, .connectionLost, .malformedResponse,
        .headTooLarge(limit: 1), .bodyTooLarge(limit: 1), .proxyRefused(status: 407), .pinMismatch, .requestBody, .rejected,
        .other,
    ]

    @Test("Whatever libcurl's code, the exit code is documented")
    func transport() {
        for kind in Self.kinds {
            for curlCode in (0...120) as ClosedRange<Int32> {
                let code = ExitCode.of(TransportError(kind, "", curlCode: curlCode))
                #expect(Self.documented.contains(code) && code != 0 && code != 2, "\(kind) \(curlCode): \(code)")
            }
        }
    }

    @Test("The codes of curl's failures are curl's")
    func curls() {
        #expect(ExitCode.of(TransportError(.hostNotFound, "", curlCode: 5)) == 5)
        #expect(ExitCode.of(TransportError(.tls, "", curlCode: 60)) == 60)
        #expect(ExitCode.of(TransportError(.tls, "", curlCode: 91)) == 35)
        #expect(ExitCode.of(TransportError(.connectionLost, "", curlCode: 52)) == 52)
        #expect(ExitCode.of(TransportError(.malformedResponse, "", curlCode: 61)) == 61)
        #expect(ExitCode.of(TransportError(.malformedResponse, "", curlCode: 1)) == 8)
        #expect(ExitCode.of(TransportError(.malformedResponse)) == 8)
    }

    @Test("Each code is documented once, and fits a process's status")
    func table() {
        #expect(Self.documented.count == ExitCode.documented.count)
        #expect(
            Self.documented.allSatisfy { $0 >= 0 && ($0 < 126 || $0 == ExitCode.notExecutable || $0 == ExitCode.commandNotFound) }
        )
    }
}
