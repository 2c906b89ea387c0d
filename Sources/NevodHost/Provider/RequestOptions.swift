/// What a provider obeys in one request with all its attempts and redirects.
public struct RequestOptions: Sendable {
    /// What is passed on to the transport. Its timeout is for the whole request, and each attempt gets what is left of it.
    public var transfer: TransferOptions
    /// Whether redirects are followed, and how many.
    public var redirects: RedirectPolicy
    /// When a failed attempt is repeated; nil for the policy of the configuration.
    public var retryPolicy: RetryPolicy?

    /// The defaults: 60 s for the request, 30 s for a connection, bodies of up to 64 MiB, 10 redirects, the configuration's
    /// retries.
    public init(
        timeout: Duration? = .seconds(60), connectTimeout: Duration = .seconds(30),
        delivery: TransferOptions.Delivery = .collected(limit: 64 << 20), redirects: RedirectPolicy = .follow(limit: 10),
        retryPolicy: RetryPolicy? = nil
    ) {
        transfer = TransferOptions(timeout: timeout, connectTimeout: connectTimeout, delivery: delivery)
        self.redirects = redirects
        self.retryPolicy = retryPolicy
    }
}

extension RequestOptions {
    /// For all attempts and redirects together; nil for no limit.
    public var timeout: Duration? {
        get { transfer.timeout }
        set { transfer.timeout = newValue }
    }

    /// For name lookup, connection and TLS.
    public var connectTimeout: Duration {
        get { transfer.connectTimeout }
        set { transfer.connectTimeout = newValue }
    }

    /// When a response is returned.
    public var delivery: TransferOptions.Delivery {
        get { transfer.delivery }
        set { transfer.delivery = newValue }
    }

    /// Called once for each transfer, at its end, on the transport's thread.
    public var onMetrics: (@Sendable (TransferMetrics) -> Void)? {
        get { transfer.onMetrics }
        set { transfer.onMetrics = newValue }
    }
}
