internal import NevodPluginKit
internal import NevodSupport

/// A login at another device, such as a telephone, where the person enters a code that this machine shows (RFC 8628).
struct DeviceCode {
    /// The consecutive polls without a proper answer after which the login ends.
    private static let mostSilences = 10
    /// The longest pause, in seconds, that a server which doesn't answer brings about.
    private static let longestPause: Int64 = 120

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
        return try DeviceAuthorization(try answer.success("the request for a device code"))
    }

    /// Shows the code also if the address has it, so that the person can compare the two (§3.3.1).
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

    /// Asks until the person has decided (§3.4, §3.5).
    private func poll(_ authorization: DeviceAuthorization) async throws(SchemeError) -> StoredToken {
        let fields: FormFields = [
            "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": .secret(authorization.deviceCode),
        ]
        var pause = authorization.interval
        var waited: Int64 = 0
        var silences = 0
        while true {
            waited += pause
            // The time of the requests isn't counted: the server knows when its code expires.
            guard waited <= authorization.lifetime else { throw Self.expired(authorization) }
            try await flow.wait(.seconds(pause))
            let silence: SchemeError
            do throws(SchemeError) {
                let answer = try await server.answer(fields)
                switch answer.error {
                case nil where answer.status / 100 == 2: return try await server.token(in: answer)
                case "authorization_pending":
                    silences = 0
                    continue
                case "slow_down":
                    silences = 0
                    pause += 5
                    continue
                case "access_denied" where answer.meaning == .refusal:
                    let words = ServerText.shown(answer.json?["error_description"]?.string ?? "", without: answer.secrets)
                    throw .denied("the login was refused on the other device\(words.isEmpty ? "" : " (\(words))")")
                case "expired_token": throw Self.expired(authorization)
                case _ where answer.meaning == .outage: silence = answer.failure(of: "the token request")
                default: throw answer.failure(of: "the token request")
                }
            } catch {
                guard error.transportFailure == .transient else { throw error }
                silence = error
            }
            silences += 1
            guard silences < Self.mostSilences else { throw silence }
            // A server that doesn't answer is asked less often (§3.5).
            pause = max(pause, min(pause * 2, Self.longestPause))
        }
    }

    private static func expired(_ authorization: DeviceAuthorization) -> SchemeError {
        .unavailable("the code \(authorization.userCode) expired before it was confirmed; log in again for a new one")
    }
}

/// The server's response to a device (RFC 8628 §3.2).
struct DeviceAuthorization: Sendable {
    private static let longestAddress = 512
    private static let longestCompleteAddress = 2048
    private static let longestUserCode = 64
    private static let intervals: ClosedRange<Int64> = 1...300
    /// A flow has an hour.
    private static let lifetimes: ClosedRange<Int64> = 1...3300

    /// Half of the waits of a flow: a server that is busy may ask for one before each poll.
    private static let mostPolls: Int64 = 900

    let deviceCode: Secret
    let userCode: String
    let verificationURI: String
    let completeURI: String?
    /// Seconds between two polls.
    let interval: Int64
    /// Seconds.
    let lifetime: Int64

    init(_ json: JSONValue) throws(SchemeError) {
        guard let deviceCode = json["device_code"]?.string, StoredToken.isToken(deviceCode) else {
            throw Self.without("device_code")
        }
        // Shown exactly as it is, so one that isn't safe to show can't be used.
        guard let userCode = json["user_code"]?.string, !userCode.isEmpty, userCode.utf8.count <= Self.longestUserCode,
            userCode.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F })
        else { throw Self.without("user_code") }
        // Some servers follow a draft.
        guard let uri = json["verification_uri"]?.string ?? json["verification_url"]?.string,
            Self.isAddress(uri, upTo: Self.longestAddress)
        else { throw Self.without("verification_uri, an http or https address") }
        self.deviceCode = Secret(deviceCode)
        self.userCode = userCode
        verificationURI = uri
        let complete = json["verification_uri_complete"]?.string
        completeURI = complete.flatMap { Self.isAddress($0, upTo: Self.longestCompleteAddress) ? $0 : nil }
        lifetime = Self.seconds(json["expires_in"], else: 900, Self.lifetimes)
        interval = max(Self.seconds(json["interval"], else: 5, Self.intervals), lifetime / Self.mostPolls + 1)
    }

    private static func without(_ member: String) -> SchemeError {
        .unavailable("the server's response to the request for a device code has no valid \(member)")
    }

    private static func isAddress(_ text: String, upTo longest: Int) -> Bool {
        let scheme = text.utf8.prefix { $0 != UInt8(ascii: ":") }.map { $0.asciiLowercased }
        let isWeb = scheme.elementsEqual("https".utf8) || scheme.elementsEqual("http".utf8)
        return isWeb && text.utf8.dropFirst(scheme.count).starts(with: "://".utf8) && text.utf8.count <= longest
            && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }

    /// A positive number within a range; some servers send it as a string.
    private static func seconds(_ value: JSONValue?, else standard: Int64, _ range: ClosedRange<Int64>) -> Int64 {
        guard let number = value?.integer ?? value?.string.flatMap({ Int64($0) }), number > 0 else { return standard }
        return min(max(number, range.lowerBound), range.upperBound)
    }
}
