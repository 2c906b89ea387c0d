internal import NevodOAuth
internal import NevodPluginKit
internal import NevodSupport

/// A login at another device, such as a telephone, where the person enters a code that this machine shows (RFC 8628).
struct DeviceCode {
    /// The limit on consecutive polls that fail.
    private static let mostFailures = 10
    /// The longest time in seconds that a code counts as valid: less than an hour, which is the limit of a flow.
    private static let longestLifetime: Int64 = 3300
    /// Less than half of a flow's waits, because a busy server may ask for another wait before each poll.
    private static let mostPolls: Int64 = 900

    private let server: TokenEndpoint
    private var flow: AuthFlow { server.flow }

    init(_ server: TokenEndpoint) {
        self.server = server
    }

    func run() async throws(SchemeError) -> StoredToken {
        let authorization = try await authorize()
        try await show(authorization)
        var token = try await poll(authorization)
        if token.scope == nil, !server.scope.isEmpty { token.scope = server.scope }
        return token
    }

    /// Asks for the codes (§3.1).
    private func authorize() async throws(SchemeError) -> DeviceAuthorization {
        guard let endpoint = server.endpoints.device else { throw .internal("a device login without its endpoint") }
        var fields = FormFields()
        server.target(&fields)
        let answer = try await server.ask(fields, at: endpoint, namingClient: true)
        let json = try answer.success("the request for a device code")
        do throws(DeviceAuthorization.Fault) {
            return try DeviceAuthorization(json) { WebAddress($0)?.isAuthentic ?? false }
        } catch {
            throw .unavailable("the server's response to the request for a device code has no valid \(error.member)")
        }
    }

    /// Shows the code even if the address contains it, so that the person can compare the two (§3.3.1).
    private func show(_ authorization: DeviceAuthorization) async throws(SchemeError) {
        let code = authorization.userCode
        if let complete = authorization.completeURI {
            try await flow.show(
                "Enter the code \(code) at \(authorization.verificationURI), or open this address and compare the code:",
                url: complete)
        } else {
            try await flow.show("Enter the code \(code) at this address, on any device:", url: authorization.verificationURI)
        }
    }

    /// Polls until the person has decided (§3.4, §3.5).
    private func poll(_ authorization: DeviceAuthorization) async throws(SchemeError) -> StoredToken {
        let fields: FormFields = [
            "grant_type": .text(DeviceAuthorization.grantType), "device_code": .secret(Secret(authorization.deviceCode)),
        ]
        let lifetime = min(authorization.lifetime, Self.longestLifetime)
        var polling = DevicePolling(interval: max(authorization.interval, lifetime / Self.mostPolls + 1))
        var waited: Int64 = 0
        while true {
            waited += polling.interval
            // The duration of the requests isn't counted, because the server knows when its code expires.
            guard waited <= lifetime else { throw Self.expired(authorization) }
            try await flow.wait(.seconds(polling.interval))
            let failure: SchemeError
            let mayContinue: Bool
            do throws(SchemeError) {
                let answer = try await server.answer(fields)
                if answer.response.isSuccess, let json = answer.json { return try await server.token(in: json) }
                let meaning = answer.response.meaning
                failure = Self.failure(answer, authorization)
                mayContinue = polling.shouldContinue(
                    after: answer.response.body.error, status: answer.response.status,
                    mayPass: meaning == .outage || meaning == .otherFormat, asked: answer.retryAfter)
            } catch {
                guard error.transportFailure == .transient else { throw error }
                failure = error
                mayContinue = polling.shouldContinue(after: nil, status: nil, mayPass: true, asked: nil)
            }
            guard mayContinue, polling.failures < Self.mostFailures else { throw failure }
        }
    }

    private static func failure(_ answer: ServerAnswer, _ authorization: DeviceAuthorization) -> SchemeError {
        switch answer.response.body.error {
        case "access_denied" where answer.response.meaning == .refusal:
            let words = ServerWords.inParentheses(answer.response.body.errorDescription, hiding: answer.secrets)
            return .denied("the login was refused on the other device\(words)")
        case "expired_token": return expired(authorization)
        default: return answer.failure(of: "the token request")
        }
    }

    private static func expired(_ authorization: DeviceAuthorization) -> SchemeError {
        .unavailable("the code \(authorization.userCode) expired before it was confirmed; log in again for a new one")
    }
}
