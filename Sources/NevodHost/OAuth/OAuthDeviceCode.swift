internal import NevodOAuth
internal import NevodSupport

/// The code that a user enters on another device to log this one in (RFC 8628 §3.2).
public struct OAuthDeviceCode: Sendable, Redacted {
    /// The code that the user enters: printable ASCII.
    public let userCode: String
    /// The page on which the user enters it: https, unless its server is on this machine.
    public let verificationURI: String
    /// The same page with the code in its address, as for a QR code; nil if the server has none.
    public let verificationURIComplete: String?
    /// How long the code is valid, counted from the server's response.
    public let lifetime: Duration
    /// How often the server may be asked whether the user has entered the code.
    let interval: Duration
    /// Exchanged for the token; secret.
    let code: String

    init(_ response: OAuthResponse) throws(OAuthError) {
        let json = try response.result()
        let codes: DeviceAuthorization
        do throws(DeviceAuthorization.Fault) {
            codes = try DeviceAuthorization(json) { (try? OAuthServer.checked($0, as: "page for the code")) != nil }
        } catch {
            throw response.unusable("has no valid \(error.member); try again later")
        }
        code = codes.deviceCode
        userCode = codes.userCode
        verificationURI = codes.verificationURI
        verificationURIComplete = codes.completeURI
        lifetime = .seconds(codes.lifetime)
        interval = .seconds(codes.interval)
    }
}

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

    /// Waits until the user has logged in on the other device, and returns the token (RFC 8628 §3.4, §3.5). Asks the server at
    /// the interval that it gave, or less often if it says so. After a failure, asks at ever longer intervals, up to a minute.
    ///
    /// - Parameter device: the device's code, which can be used once.
    /// - Throws: ``OAuthError``: `refused` with `access_denied` if the user said no, or with `expired_token` after the code's
    ///   lifetime; the latter includes the failure of the last request, if that failed. An endpoint that redirects or doesn't
    ///   exist is asked only once.
    public func token(for device: OAuthDeviceCode) async throws(OAuthError) -> OAuthToken {
        try await token(for: device, clock: ContinuousClock())
    }

    func token<Time: Clock<Duration>>(for device: OAuthDeviceCode, clock: Time) async throws(OAuthError) -> OAuthToken {
        let grant: ParameterList = ["grant_type": DeviceAuthorization.grantType, "device_code": device.code]
        let end = clock.now.advanced(by: device.lifetime)
        var polling = DevicePolling(interval: device.interval.components.seconds)
        var failure: OAuthError?
        while true {
            let rest = clock.now.duration(to: end)
            guard rest > .zero else { throw Self.expiry(after: failure) }
            do { try await clock.sleep(for: min(.seconds(polling.interval), rest)) } catch {
                throw OAuthError(.cancelled, "the login on another device was cancelled")
            }
            do throws(OAuthError) { return try await token(grant, for: "the token of this device") } catch {
                let mayContinue = polling.shouldContinue(
                    after: error.serverCode?.rawValue, status: error.status, mayPass: error.isTransient,
                    asked: error.retryAfter?.components.seconds)
                guard mayContinue else { throw error }
                failure = polling.failures > 0 ? error : nil
            }
        }
    }

    /// The error after the code's lifetime.
    ///
    /// - Parameter failure: the failure of the last request; nil if the server served it.
    private static func expiry(after failure: OAuthError?) -> OAuthError {
        let cause = failure.map { "; the last request failed: \($0)" } ?? ""
        return OAuthError(
            .refused, "the user has not entered the code in time; begin the login again\(cause)", serverCode: .expiredToken,
            status: failure?.status, underlying: failure?.underlying)
    }
}
