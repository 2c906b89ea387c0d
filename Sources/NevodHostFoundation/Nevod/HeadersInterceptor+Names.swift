public import NevodHost

extension HeadersInterceptor {
    /// Adds a User-Agent (RFC 9110 §10.1.5).
    public static func userAgent(_ userAgent: String) -> HeadersInterceptor {
        HeadersInterceptor(headers: ["User-Agent": userAgent])
    }

    /// Adds a header with the version of the API that the program was written for.
    public static func apiVersion(_ version: String, headerName: String = "X-API-Version") -> HeadersInterceptor {
        HeadersInterceptor(headers: [headerName: version])
    }
}
