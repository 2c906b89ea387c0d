import Glibc
import NevodHost

/// The exit codes of the process: curl's, where curl has one for the failure.
enum ExitCode {
    static let success: Int32 = 0
    static let usage: Int32 = 2
    static let url: Int32 = 3
    static let notHTTP: Int32 = 8
    static let httpStatus: Int32 = 22
    static let write: Int32 = 23
    static let read: Int32 = 26
    static let timeout: Int32 = 28
    static let range: Int32 = 33
    static let redirect: Int32 = 47
    static let other: Int32 = 1
    static let plugin: Int32 = 110
    static let settings: Int32 = 111
    static let authorization: Int32 = 112
    static let unanswered: Int32 = 113
    static let store: Int32 = 114
    static let damaged: Int32 = 115
    static let refused: Int32 = 116
    static let contract: Int32 = 117
    static let differs: Int32 = 118
    static let refusedCredential: Int32 = 119
    static let otherOrigin: Int32 = 120
    static let notExecutable: Int32 = 126
    static let commandNotFound: Int32 = 127

    static let documented: [(Int32, String)] = [
        (success, "a response was received; with --fail, its status is below 400"),
        (other, "a failure without a code of its own"),
        (usage, "the command line can't be understood"),
        (url, "the URL, a header, the method or a redirect is invalid"),
        (5, "the proxy's name can't be resolved"),
        (6, "the host's name can't be resolved"),
        (7, "no connection"),
        (notHTTP, "the response is not HTTP, or its head is too large"),
        (18, "the response ended too early"),
        (httpStatus, "with --fail: the status is 400 or higher, and the credential was not refused"),
        (write, "the output can't be written"),
        (read, "a file, or standard input, can't be read"),
        (timeout, "timed out"),
        (range, "with -C: the response is not the rest that was requested"),
        (35, "the TLS handshake failed"),
        (45, "the address or port of --interface or --local-port can't be used"),
        (redirect, "more redirects than --max-redirs"),
        (52, "the server closed the connection without a response"),
        (55, "the connection broke before the request was sent completely"),
        (56, "the connection broke, or a proxy refused to connect"),
        (58, "the file of --cert or --key can't be used"),
        (60, "the server's certificate can't be verified"),
        (61, "the response can't be decompressed"),
        (63, "the body is larger than --max-filesize, or grows out of proportion when decompressed"),
        (77, "the file of --cacert can't be used"),
        (90, "the server's public key doesn't match --pinnedpubkey"),
        (plugin, "the plugin can't be found, loaded or understood, or broke the contract"),
        (settings, "a setting is unknown, missing or wrong"),
        (authorization, "the plugin could not log in or authorize the request"),
        (
            unanswered,
            "a login or a store's key needs an answer, and there is no terminal to ask at, or the prompt was closed (Ctrl-D)"
        ),
        (store, "the store of sessions can't be opened, read or written, or its key is not the one given"),
        (damaged, "the store, or a session in it, is damaged"),
        (refused, "the plugin refused the response, which can't be trusted"),
        (contract, "check: the plugin breaks the contract"),
        (differs, "a replay differs from its recording"),
        (refusedCredential, "with --fail: the server refused the request's credential, with 401 or 403"),
        (otherOrigin, "the credential of the profile or session is not for the URL's origin"),
        (notExecutable, "run: the command can't be executed; if it can, the exit code is the command's own"),
        (commandNotFound, "run: the command can't be found"),
    ]

    static func of(_ error: any Error) -> Int32 {
        switch NetworkError.cause(of: error) {
        case is UsageError, is ConfigError: usage
        case let error as ProfileProblemsError: error.exitCode
        case let error as ReportedFailure: error.code
        case is InputError, is RecordingFileError: read
        case is OutputError, is OutputNameError, is BinaryOutputError: write
        case is RangeError: range
        case let error as BrokenBodyError: of(error.cause)
        case is CredentialScopeError: otherOrigin
        case is SettingSourceError, is PresetError: settings
        case is UnansweredError: unanswered
        case let error as SiteLoginError: error.exitCode
        case is UninspectablePluginError: plugin
        case is BrokenContractError, is UncheckedPluginError: contract
        case let error as HTTPStatusError: error.refusesCredential ? refusedCredential : httpStatus
        case let error as InvalidRequestError: error.part == .body ? read : url
        case let error as StorageError: error.code == .damaged ? damaged : store
        case is UnusableCredentialError: authorization
        case let error as DockerError: error.exitCode
        case let error as ExecutionError: error.errorNumber == ENOENT ? commandNotFound : notExecutable
        case is VerificationError, is UnreadableTokenError: damaged
        case let error as PluginError: of(error)
        case let error as SubjectError: of(error.underlying)
        case let error as TransportError where error.underlying != nil: error.underlying.map { of($0) } ?? other
        case let error as TransportError: of(error)
        case let error as RedirectError: if case .tooMany = error.problem { redirect } else { url }
        case NetworkError.authorization, NetworkError.unauthorized: authorization
        default: other
        }
    }

    /// Returns libcurl's code if it is documented, and otherwise the code for the kind of failure.
    private static func of(_ error: TransportError) -> Int32 {
        // libcurl takes a response without a header for HTTP/0.9, and reports it as an unsupported protocol.
        if error.code == .malformedResponse, ![18, 61, 56].contains(error.curlCode) { return notHTTP }
        let isDocumented = error.curlCode > usage && error.curlCode < plugin && documented.contains { $0.0 == error.curlCode }
        return isDocumented ? error.curlCode : of(error.code)
    }

    private static func of(_ code: TransportError.Code) -> Int32 {
        switch code {
        case .hostNotFound: 6
        case .connectionFailed: 7
        case .timedOut: timeout
        case .tls: 35
        case .tlsConfiguration: 58
        case .connectionLost, .proxyRefused: 56
        case .malformedResponse, .headTooLarge: notHTTP
        case .bodyTooLarge: 63
        case .pinMismatch: 90
        case .requestBody: read
        case .cancelled, .rejected, .other: other
        }
    }

    private static func of(_ error: PluginError) -> Int32 {
        switch error.reason {
        case .unknownSetting, .missingSetting, .badSetting, .unknownParameter, .missingParameter, .badParameter: settings
        case .unanswered: unanswered
        case .refusedResponse: refused
        case .unreturned: timeout
        case .noFlow: authorization
        case .failed(_, _, let status, _, _, _) where PluginStatus(rawValue: status) == .badSettings: settings
        case .failed(_, _, let status, _, _, _) where PluginStatus(rawValue: status) != nil: authorization
        default: plugin
        }
    }
}
