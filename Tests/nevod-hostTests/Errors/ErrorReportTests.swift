import NevodHost
import Testing

@testable import nevod_host

@Suite struct ErrorReportTests {
    private let plugin = PluginError("p.so", .schemeNotChosen(offered: ["a", "c"]))
    private let lost = TransportError(.connectionLost, curlCode: 52)

    @Test func `An error that wraps a plugin's error has its exit code and its hint`() {
        let errors: [any Error] = [
            plugin, NetworkError.plugin(plugin), NetworkError.authenticationFailed(plugin),
            NetworkError.interceptor("X", NetworkError.authenticationFailed(NetworkError.plugin(plugin))),
        ]
        for error in errors {
            #expect(NetworkError.cause(of: error) is PluginError)
            #expect(ExitCode.of(error) == ExitCode.plugin)
            #expect(ErrorText(arguments: nil).text(of: error) == "\(error), with --scheme ID")
        }
    }

    @Test func `An error that wraps the transport's error has its exit code`() {
        let errors: [any Error] = [
            lost, NetworkError.noConnection(lost), NetworkError.transport(lost),
            NetworkError.interceptor("X", NetworkError.noConnection(lost)),
        ]
        for error in errors {
            #expect(NetworkError.cause(of: error) is TransportError)
            #expect(ExitCode.of(error) == 52)
        }
    }

    @Test func `A request that could not be authorized is an error of its own`() {
        let error = NetworkError.authorization(lost)
        #expect(NetworkError.cause(of: error) is NetworkError)
        #expect(ExitCode.of(error) == ExitCode.authorization)
        #expect(ExitCode.of(NetworkError.unauthorized) == ExitCode.authorization)
        #expect(ExitCode.of(NetworkError.unknown(plugin)) == ExitCode.other)
    }

    @Test func `A failure that was reported keeps its code`() {
        let report = ErrorReport(arguments: nil, console: Console(isSilent: true, verbosity: .none))
        #expect(report.write(ReportedFailure(code: 7, isFatal: false)) == 7)
    }
}
