internal import NevodSupport

extension OAuthClient {
    /// Begins a login on another device, for a program without a browser (RFC 8628 §3.1). Show the code, and wait for the token
    /// with ``token(for:)``.
    ///
    /// ```swift
    /// let device = try await client.deviceAuthorization()
    /// print("Open \(device.verificationURI) and enter \(device.userCode)")
    /// let token = try await client.token(for: device)
    /// ```
    ///
    /// - Parameter scopes: nil for the client's.
    /// - Throws: ``OAuthError``.
    public func deviceAuthorization(scopes: [String]? = nil) async throws(OAuthError) -> OAuthDeviceCode {
        guard let endpoint = try await server().deviceAuthorizationEndpoint else {
            throw OAuthError(.invalidSetting, "the server has no device authorization endpoint; name it, or use another grant")
        }
        return try OAuthDeviceCode(await post(ParameterList(scope(scopes)), to: endpoint, for: "a code for this device"))
    }

    /// Waits until the user has logged in on the other device, and returns the token (RFC 8628 §3.4, §3.5). The server is asked
    /// at its interval, less often if it says so, and after a failure at ever longer intervals up to a minute.
    ///
    /// - Parameter device: for one use.
    /// - Throws: ``OAuthError``: `refused` with `access_denied` if the user said no, and with `expired_token` after the code's
    ///   lifetime, with the failure of the last request if there was one. An endpoint that redirects or isn't there is asked once.
    public func token(for device: OAuthDeviceCode) async throws(OAuthError) -> OAuthToken {
        try await token(for: device, clock: ContinuousClock())
    }

    func token<Time: Clock<Duration>>(for device: OAuthDeviceCode, clock: Time) async throws(OAuthError) -> OAuthToken {
        let grant: ParameterList = [
            "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": device.code,
        ]
        let end = clock.now.advanced(by: device.lifetime)
        var polling = DevicePolling(interval: device.interval)
        while true {
            let rest = clock.now.duration(to: end)
            guard rest > .zero else { throw polling.expiry }
            do { try await clock.sleep(for: min(polling.interval, rest)) } catch {
                throw OAuthError(.cancelled, "the login on another device was cancelled")
            }
            do throws(OAuthError) { return try await token(grant, for: "the token of this device") } catch {
                guard polling.shouldContinue(after: error) else { throw error }
            }
        }
    }
}

/// The pace at which a device asks for its token (RFC 8628 §3.5).
struct DevicePolling {
    private(set) var interval: Duration
    /// Nil if the server has served the last request.
    private var failure: OAuthError?
    private static let longest: Duration = .seconds(60)

    init(interval: Duration) {
        self.interval = interval
    }

    /// - Returns: false if the server will issue no token.
    mutating func shouldContinue(after error: OAuthError) -> Bool {
        let asked = min(error.retryAfter ?? .zero, OAuthPause.longest)
        failure = nil
        switch error.serverCode {
        case .authorizationPending?: break
        case .slowDown?: interval = max(interval + .seconds(5), asked)
        default:
            guard error.isTransient, !error.isOfWrongEndpoint else { return false }
            failure = error
            interval = max(interval, min(interval * 2, Self.longest), asked)
        }
        return true
    }

    /// The error after the code's lifetime.
    var expiry: OAuthError {
        let cause = failure.map { "; the last request failed: \($0)" } ?? ""
        return OAuthError(
            .refused, "the user has not entered the code in time; begin the login again\(cause)", serverCode: .expiredToken,
            status: failure?.status, underlying: failure?.underlying)
    }
}

extension OAuthError {
    /// Whether the response comes from a place that serves no such requests, and won't later.
    fileprivate var isOfWrongEndpoint: Bool {
        guard serverCode == nil, let status else { return false }
        return (300...399).contains(status) || [401, 404, 405, 410].contains(status)
    }
}
