extension CachingSession {
    /// Sends a request that may change the resource, and invalidates the stored responses (RFC 9111 §4.4). An error status means
    /// that nothing has changed. If there is no response, the resource may have changed, so they are invalidated too.
    func sendInvalidating(_ request: HTTPRequest, _ options: TransferOptions) async -> Result<
        HTTPResponse, TransportError
    > {
        let outcome = await transfer(request, options)
        if !request.method.isSafe, Self.mayHaveChanged(outcome) {
            await store.invalidate { Self.resources(changedBy: request, outcome, $0) }
        }
        return outcome
    }

    private static func mayHaveChanged(_ outcome: Result<HTTPResponse, TransportError>) -> Bool {
        if case .success(let response) = outcome { (200..<400).contains(response.status) } else { true }
    }

    /// The request's target, and the resources of the same origin that the response names in Location and Content-Location.
    private static func resources(
        changedBy request: HTTPRequest, _ outcome: Result<HTTPResponse, TransportError>, _ digests: KeyedDigest.Key
    ) -> [KeyedDigest] {
        var changed = [CacheKey.resource(of: request, digests)]
        if case .success(let response) = outcome {
            for name in ["Location", "Content-Location"] {
                guard let text = response.headers[name] else { continue }
                changed.append(resource(named: text, by: request, digests))
            }
        }
        return changed.compactMap(\.self)
    }

    private static func resource(named text: String, by request: HTTPRequest, _ digests: KeyedDigest.Key) -> KeyedDigest? {
        var named = request
        let url = request.resolving(text)
        do throws(InvalidRequestError) { try named.redirect(to: url, leavingOut: request.credentialQueryItems) } catch {
            return nil
        }
        return named.origin == request.origin ? CacheKey.resource(of: named, digests) : nil
    }
}

extension HTTPMethod {
    /// Whether the method only reads (RFC 9110 §9.2.1). An unknown method counts as unsafe.
    fileprivate var isSafe: Bool {
        self == .get || self == .head || self == .options || rawValue == "TRACE"
    }
}
