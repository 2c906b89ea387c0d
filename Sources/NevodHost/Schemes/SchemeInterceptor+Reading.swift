internal import NevodPluginABI
internal import NevodStorage

extension SchemeInterceptor: ResponseReader {
    var readsBodies: Bool { session.instance.needs.challengeBody || !session.instance.needs.responseDigests.isEmpty }

    func readsWholeBody(of exchange: Exchange) -> Bool {
        !session.instance.needs.responseDigests.isEmpty && mayAuthenticate(exchange)
    }

    func read(
        _ response: HTTPResponse, isDecoded: Bool, _ exchange: inout Exchange
    ) async throws(TransportError) -> HTTPResponse {
        // The interceptor was chosen when the request was authorized, so this can't fail.
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

    /// How long a page that arrives in pieces is held back for its next piece.
    private static let patience = Duration.seconds(1)

    /// Returns the stream for a caller that reads the body as a stream. A response that the host itself acts on, by a retry, a
    /// flow or a redirect, is shown to the scheme at once, with as much of the body as the limit allows. Any other response is
    /// shown at the end of its body.
    private func reading(
        _ stream: HTTPResponseStream, of response: HTTPResponse, _ use: inout SchemeUse, _ exchange: Exchange
    ) async throws(TransportError) -> HTTPResponseStream {
        let needs = session.instance.needs
        let isChallenge = needs.isChallenge(response, to: exchange.request.method, from: session.instance.target)
        let needsDigests = !needs.responseDigests.isEmpty
        if isChallenge && needs.challengeBody || needsDigests && (isChallenge || (300...399).contains(response.status)) {
            // A successful response usually goes to the caller, so it isn't held back for long. Digests need the whole body.
            let patience = (200...299).contains(response.status) && !needsDigests ? Self.patience : nil
            let head = try await stream.head(ReceivedBody.limit, patience: patience)
            (use.body.head, use.body.isCut) = (head.bytes, !head.isWhole)
            return head.body
        }
        guard needsDigests, response.hasBody(inResponseTo: exchange.request.method) else { return stream }
        use.body.isShownAtEnd = true
        // The work holds the response, and ends with it. If the response's stream held the work in turn, both would live forever.
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
    /// Whether bytes may follow the header lines (RFC 9112 §6.3). Content-Length doesn't count: it may contradict
    /// Transfer-Encoding.
    func hasBody(inResponseTo method: HTTPMethod) -> Bool {
        method != .head && status != 204 && status != 304
    }
}

/// The beginning of a body that was read as a stream.
struct BodyHead {
    /// At most one piece more than the limit.
    var bytes: [UInt8] = []
    /// Whether these bytes are the whole body.
    var isWhole = false
    /// The whole body, these bytes included. It fails where reading did.
    let body: HTTPResponseStream
}

extension HTTPResponseStream {
    /// Reads until there are more than `limit` bytes, or the body is complete, or breaks off.
    ///
    /// - Parameter patience: how long to wait for each piece after the first one; nil to wait indefinitely. A body that arrives
    ///   slowly, such as a progress page, is thus not held back.
    /// - Throws: if the task is cancelled, or the request times out.
    func head(_ limit: Int, patience: Duration? = nil) async throws(TransportError) -> BodyHead {
        var bytes: [UInt8] = []
        var isWhole = false
        var rest: Rest = .later
        reading: while bytes.count <= limit {
            do throws(TransportError) {
                switch try await piece(within: bytes.isEmpty ? nil : patience) {
                case .piece(let piece?): bytes += piece
                case .piece(nil):
                    isWhole = true
                    break reading
                case .late(let piece):
                    rest = .late(piece)
                    break reading
                }
            } catch {
                switch error.code {
                case .cancelled, .timedOut: throw error
                default: rest = .failed(error)
                }
                break reading
            }
        }
        let (first, then) = (StreamMemory<[UInt8]>(), StreamMemory<Rest>())
        if !bytes.isEmpty { first.keep(bytes) }
        then.keep(rest)
        let body = HTTPResponseStream { () async throws(TransportError) in
            if let bytes = first.take() { return bytes }
            switch then.take() {
            case .late(let piece): return try await piece.value()
            case .failed(let error):
                then.keep(.failed(error))
                throw error
            case .later, nil: return try await next()
            }
        }
        return BodyHead(bytes: bytes, isWhole: isWhole, body: body)
    }

    /// Where the rest of the body comes from.
    private enum Rest {
        case later
        case late(LatePiece)
        case failed(TransportError)
    }

    private enum Piece {
        case piece([UInt8]?)
        /// The next piece didn't arrive in time, and is still being read.
        case late(LatePiece)
    }

    private func piece(within patience: Duration?) async throws(TransportError) -> Piece {
        guard let patience else { return .piece(try await next()) }
        let (late, arrival) = (LatePiece(of: self), Waiter<Void>())
        // The task must not retain `late`, whose last release cancels the reading.
        let reading = late.reading
        Task {
            _ = await reading.value
            arrival.resume(with: .success(()))
        }
        do { try await arrival.value(until: ContinuousClock.now + patience) } catch is DeadlineExceededError {
            return .late(late)
        } catch {
            late.reading.cancel()
            throw TransportError(.cancelled)
        }
        return .piece(try await late.value())
    }
}

/// A piece that is read in a task of its own. The task is cancelled when the last reference to the piece is released.
private final class LatePiece: Sendable {
    let reading: Task<Result<[UInt8]?, TransportError>, Never>

    init(of stream: HTTPResponseStream) {
        reading = Task {
            do throws(TransportError) { return .success(try await stream.next()) } catch { return .failure(error) }
        }
    }

    deinit {
        reading.cancel()
    }

    func value() async throws(TransportError) -> [UInt8]? {
        try await withTaskCancellationHandler {
            await reading.value
        } onCancel: {
            reading.cancel()
        }.get()
    }
}
