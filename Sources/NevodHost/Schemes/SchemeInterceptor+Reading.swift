internal import NevodPluginABI

extension SchemeInterceptor: ResponseReader {
    var readsBodies: Bool { session.instance.needs.challengeBody || !session.instance.needs.responseDigests.isEmpty }

    func readsWholeBody(of exchange: Exchange) -> Bool {
        !session.instance.needs.responseDigests.isEmpty && mayAuthenticate(exchange)
    }

    func read(
        _ response: HTTPResponse, isDecoded: Bool, _ exchange: inout Exchange
    ) async throws(TransportError) -> HTTPResponse {
        // Chosen when the request was authorized, so that this can't fail.
        if let own = try? interceptor(for: &exchange) {
            return try await own.readWithOwnToken(response, isDecoded: isDecoded, &exchange)
        }
        return try await readWithOwnToken(response, isDecoded: isDecoded, &exchange)
    }

    private func readWithOwnToken(
        _ response: HTTPResponse, isDecoded: Bool, _ exchange: inout Exchange
    ) async throws(TransportError) -> HTTPResponse {
        let instance = session.instance
        let owner = ObjectIdentifier(instance)
        guard mayAuthenticate(exchange), instance.target.isSource(ofStatus: response.status, for: exchange.request.origin),
            instance.needs.sees(response, to: exchange.request.method, from: instance.target),
            var use: SchemeUse = exchange.bindings.attachment(of: owner)
        else { return response }
        var received = ReceivedBody()
        var response = response
        if !isDecoded, !instance.needs.responseDigests.isEmpty {
            let digests = ResponseDigests(instance.needs.responseDigests)
            received.digests = digests
            switch response.body {
            case .bytes(let bytes):
                digests.add(bytes)
                digests.add(nil)
            case .stream where !response.hasBody(inResponseTo: exchange.request.method): digests.add(nil)
            case .stream(let stream): response = response.with(.stream(stream.observed { digests.add($0) }))
            }
        }
        use.body = received
        if case .streamed = exchange.options.delivery, case .stream(let stream) = response.body {
            response = response.with(.stream(try await reading(stream, of: response, &use, exchange)))
        }
        exchange.bindings.attach(use, of: owner)
        return response
    }

    /// How long a page that comes in pieces is held back for the next one.
    private static let patience = Duration.seconds(1)

    /// Returns the stream for a caller that reads the body as a stream. A response that the host itself acts on, by a retry, a flow or
    /// a redirect, is shown to the scheme at once, with as much of the body as the limit allows; any other one at the end of its body.
    private func reading(
        _ stream: HTTPResponseStream, of response: HTTPResponse, _ use: inout SchemeUse, _ exchange: Exchange
    ) async throws(TransportError) -> HTTPResponseStream {
        let needs = session.instance.needs
        let isChallenge = needs.isChallenge(response, to: exchange.request.method, from: session.instance.target)
        let needsDigests = !needs.responseDigests.isEmpty
        if isChallenge && needs.challengeBody || needsDigests && (isChallenge || (300...399).contains(response.status)) {
            // The caller gets a successful response, as a rule; others the host acts on. Digests need the whole body.
            let patience = (200...299).contains(response.status) && !needsDigests ? Self.patience : nil
            let head = try await stream.head(ReceivedBody.limit, patience: patience)
            (use.body.head, use.body.isCut) = (head.bytes, !head.isWhole)
            return head.body
        }
        guard needsDigests, response.hasBody(inResponseTo: exchange.request.method) else { return stream }
        use.body.isShownAtEnd = true
        // The work ends with the response, and holds it: a reference from its stream would keep both forever.
        var exchange = exchange
        exchange.work = nil
        return stream.checkedAtEnd { [use, exchange] () async throws(TransportError) in
            do {
                let shown = session.instance.shown(response.with(.bytes([])), use.body, to: exchange.request)
                _ = try await verdict(on: shown, exchange, use, isAtEnd: true)
            } catch is CancellationError {
                throw TransportError(.cancelled)
            } catch NetworkError.plugin(let error) {
                throw TransportError(rejectedBy: error)
            } catch {
                throw TransportError(rejectedBy: error)
            }
        }
    }
}

extension HTTPResponse {
    /// Whether bytes may follow the header lines (RFC 9112 §6.3). Content-Length doesn't count: it may contradict Transfer-Encoding.
    func hasBody(inResponseTo method: HTTPMethod) -> Bool {
        method != .head && status != 204 && status != 304
    }
}
