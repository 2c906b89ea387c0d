internal import NevodSupport

extension HTTPResponseStream {
    /// Returns a stream of the same pieces that shows each one, and then nil at the end, to `observer` before it is delivered.
    func observed(_ observer: @escaping @Sendable ([UInt8]?) -> Void) -> HTTPResponseStream {
        HTTPResponseStream { () async throws(TransportError) in
            let piece = try await next()
            observer(piece)
            return piece
        }
    }

    /// Returns a stream of the same pieces whose end is delivered only after `check` has returned. An error of `check` takes the
    /// place of the end.
    func checkedAtEnd(_ check: @escaping @Sendable () async throws(TransportError) -> Void) -> HTTPResponseStream {
        let outcome = StreamMemory<Result<Void, TransportError>>()
        return HTTPResponseStream { () async throws(TransportError) in
            if let piece = try await next() { return piece }
            if let known = outcome.take() {
                outcome.keep(known)
                try known.get()
                return nil
            }
            do throws(TransportError) { try await check() } catch {
                outcome.keep(.failure(error))
                throw error
            }
            outcome.keep(.success(()))
            return nil
        }
    }
}

/// A value that calls of one stream leave for later ones.
final class StreamMemory<Value: Sendable>: Sendable {
    private let value = Locked<Value?>(nil)

    func keep(_ kept: Value) {
        value.withLock { $0 = kept }
    }

    func take() -> Value? {
        value.withLock { value in
            defer { value = nil }
            return value
        }
    }
}
