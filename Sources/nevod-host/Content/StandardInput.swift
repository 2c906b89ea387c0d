import NevodHost
import NevodSupport

extension Arguments {
    /// Refuses several options that read standard input: the second would silently read nothing.
    func checkStandardInput() throws(UsageError) {
        let readers = ([self] + laterGroups).flatMap(\.flags).count { given in
            Flag.all.first { $0.name == given.name }?.value?.standardInput?.isNamed(by: given.value) ?? false
        }
        guard readers <= 1 else { throw UsageError("standard input can be read only once, but \(readers) options read it") }
    }
}

/// The content that requests read from standard input. If there are several requests, it is kept after the first, because each
/// sends it.
enum StandardInputContent {
    private struct State {
        var isKept = false
        var bytes: [UInt8]?
    }

    private static let state = Locked(State())

    /// Call before the first of several requests.
    static func keep() {
        state.withLock { $0.isKept = true }
    }

    static func read() throws(InputError) -> [UInt8] {
        if let bytes = state.withLock(\.bytes) { return bytes }
        let bytes = try FileDescriptor.standardInput.readAll(limit: InputLimit.content)
        state.withLock { if $0.isKept { $0.bytes = bytes } }
        return bytes
    }
}

extension RequestContent {
    /// Standard input, piece by piece, of unknown length. It can't be replayed, so it is sent only once.
    static let standardInput = HTTPBody.stream(
        HTTPBodyStream(length: nil, isReplayable: false) { StandardInputReader() })
}

/// Reads standard input piece by piece, as it arrives.
private final class StandardInputReader: HTTPBodyReader {
    func read(upTo count: Int) async throws -> [UInt8] {
        // Reads on a thread that may block: the transfer's thread handles timeouts and the response.
        try await Task.detached { try FileDescriptor.standardInput.readSome(upTo: count) }.value
    }
}
