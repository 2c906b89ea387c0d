public import NevodHost

extension LoggingInterceptor {
    /// Creates an interceptor that logs to standard error, without headers and bodies.
    public init() {
        self.init(logger: NevodLogger())
    }

    /// Creates an interceptor that also hides values under names of your own.
    ///
    /// - Parameters:
    ///   - logger: receives responses with a status below 400 as `info`, others as `warning`, and failures as `error`.
    ///   - hideHeaderFields: hidden in addition to `RedactedNames.default`, which can't be switched off here.
    public init(logger: some NetworkLogger = NevodLogger(), hideHeaderFields: some Sequence<String>) {
        self.init(logger: logger, logLevel: .detailed, redacting: RedactedNames.default.adding(hideHeaderFields))
    }
}
