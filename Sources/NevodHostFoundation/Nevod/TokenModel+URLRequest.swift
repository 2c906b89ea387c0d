public import NevodHost

#if canImport(FoundationNetworking)
    internal import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension TokenModel {
    /// Puts the token on a `URLRequest`, outside a provider.
    ///
    /// - Returns: the same request. (With a result, this method can't be mistaken for the one that a token must have.)
    /// - Throws: the token's errors; `InvalidRequestError` for a request that can't be sent, such as one without a URL.
    @discardableResult
    public func authorize(_ request: inout URLRequest) throws -> URLRequest {
        if var own = request as? Request {
            try authorize(&own)
            if let authorized = own as? URLRequest { request = authorized }
            return request
        }
        var native = try HTTPRequest(request)
        var shaped = Request(native)
        try authorize(&shaped)
        try shaped.write(to: &native)
        request.update(from: native)
        return request
    }
}
