package import NevodHost
import NevodSupport

extension HTTPBodyStream {
    /// A body that arrives in these pieces, then ends or fails.
    package static func of(
        _ pieces: [[UInt8]], length: Int64?, isReplayable: Bool = true, failure: (any Error)? = nil,
        opened: Collected<Void>? = nil
    ) -> HTTPBodyStream {
        HTTPBodyStream(length: length, isReplayable: isReplayable) {
            opened?.append(())
            return PieceReader(pieces, failure)
        }
    }
}

private final class PieceReader: HTTPBodyReader {
    private let rest: Locked<ArraySlice<[UInt8]>>
    private let failure: (any Error)?

    init(_ pieces: [[UInt8]], _ failure: (any Error)?) {
        rest = Locked(pieces[...])
        self.failure = failure
    }

    func read(upTo count: Int) async throws -> [UInt8] {
        if let piece = rest.withLock({ $0.popFirst() }) { return piece }
        if let failure { throw failure }
        return []
    }
}
