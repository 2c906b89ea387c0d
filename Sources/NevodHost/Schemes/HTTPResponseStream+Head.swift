internal import NevodStorage

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
    /// - Parameter patience: how long to wait for a piece behind the first one; nil for as long as it takes. A body that comes slowly,
    ///   such as a page with the progress of something, is not held back.
    /// - Throws: if the task is cancelled, or its time is up.
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

    /// The source of what follows the beginning.
    private enum Rest {
        case later
        case late(LatePiece)
        case failed(TransportError)
    }

    private enum Piece {
        case piece([UInt8]?)
        /// It didn't come in time, and is still awaited.
        case late(LatePiece)
    }

    private func piece(within patience: Duration?) async throws(TransportError) -> Piece {
        guard let patience else { return .piece(try await next()) }
        let (late, arrival) = (LatePiece(of: self), Waiter<Void>())
        // It must not keep the piece itself.
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

/// A piece that is read in a task of its own, which ends with the last use of it.
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
