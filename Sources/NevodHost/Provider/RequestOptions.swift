/// Options for one request of a ``NetworkProvider``, including all its attempts and redirects. (``TransferOptions``, in contrast,
/// apply to a single transfer.)
public struct RequestOptions: Sendable {
    /// The options for the transport. The timeout limits the whole request; each attempt gets the time that is left.
    public var transfer: TransferOptions
    /// Nil if the configuration's policy applies.
    var chosenRedirects: RedirectPolicy?
    /// Decides when a failed request is sent again; nil for the configuration's policy.
    public var retryPolicy: RetryPolicy?
    /// The parameters for the schemes that authorize the request, such as a `scope`.
    public var schemeParameters: SchemeParameters

    /// Creates options. By default, a request may take 60 s, connecting may take 30 s, and a body may be up to 64 MiB in size. Up
    /// to 10 redirects are followed, and the configuration's policies apply.
    public init(
        timeout: Duration? = .seconds(60), connectTimeout: Duration = .seconds(30),
        delivery: TransferOptions.Delivery = .collected(limit: 64 << 20),
        retryPolicy: RetryPolicy? = nil, schemeParameters: SchemeParameters = [:]
    ) {
        transfer = TransferOptions(timeout: timeout, connectTimeout: connectTimeout, delivery: delivery)
        self.retryPolicy = retryPolicy
        self.schemeParameters = schemeParameters
    }

    /// Creates options with a redirect policy, which replaces the configuration's.
    public init(
        timeout: Duration? = .seconds(60), connectTimeout: Duration = .seconds(30),
        delivery: TransferOptions.Delivery = .collected(limit: 64 << 20), redirects: RedirectPolicy,
        retryPolicy: RetryPolicy? = nil, schemeParameters: SchemeParameters = [:]
    ) {
        self.init(
            timeout: timeout, connectTimeout: connectTimeout, delivery: delivery, retryPolicy: retryPolicy,
            schemeParameters: schemeParameters)
        chosenRedirects = redirects
    }
}

extension RequestOptions {
    /// Whether redirects are followed, and how many; by default up to 10. A value that is set replaces the policies of
    /// ``NetworkConfig/setRedirects(_:for:)``.
    public var redirects: RedirectPolicy {
        get { chosenRedirects ?? .follow(limit: 10) }
        set { chosenRedirects = newValue }
    }

    /// Limits all attempts and redirects together; nil for no limit.
    public var timeout: Duration? {
        get { transfer.timeout }
        set { transfer.timeout = newValue }
    }

    /// Limits name lookup, connection and TLS handshake of each attempt.
    public var connectTimeout: Duration {
        get { transfer.connectTimeout }
        set { transfer.connectTimeout = newValue }
    }

    /// How the body of the response is delivered.
    public var delivery: TransferOptions.Delivery {
        get { transfer.delivery }
        set { transfer.delivery = newValue }
    }

    /// The user that a private response belongs to; see ``TransferOptions/cacheOwner``.
    public var cacheOwner: String? {
        get { transfer.cacheOwner }
        set { transfer.cacheOwner = newValue }
    }

    /// Called once when each transfer completes or fails, on the transport's thread.
    public var onMetrics: (@Sendable (TransferMetrics) -> Void)? {
        get { transfer.onMetrics }
        set { transfer.onMetrics = newValue }
    }
}
