internal import NevodPluginABI
internal import NevodSupport

/// Reads the body that a scheme's `body_piece` makes of another one. Calls of the scheme are serial, since those of a reader are.
final class WrappedBodyReader: HTTPBodyReader {
    private struct State {
        var pending: ArraySlice<UInt8> = []
        /// The bytes read from the original body.
        var read: Int64 = 0
        /// The bytes that the scheme has written.
        var written: Int64 = 0
        var isFinished = false
    }

    private let source: any HTTPBodyReader
    private let length: Int64
    private let wrapping: BodyWrapping
    private let wrappedLength: Int64
    /// The work of the request; nil outside a provider.
    private weak let work: RequestWork?
    private let state = Locked(State())

    init(_ source: any HTTPBodyReader, length: Int64, wrapping: BodyWrapping, wrappedLength: Int64, work: RequestWork?) {
        self.source = source
        self.length = length
        self.wrapping = wrapping
        self.wrappedLength = wrappedLength
        self.work = work
    }

    func read(upTo count: Int) async throws -> [UInt8] {
        let count = max(0, count)
        while state.withLock({ Self.mustReadOn($0, wrappedLength) }) {
            let piece = try await source.read(upTo: count)
            let isLast = piece.isEmpty
            let read = state.withLock { state in
                state.read += Int64(piece.count)
                return state.read
            }
            guard isLast ? read == length : read <= length else {
                throw BodyLengthError(
                    "its reader delivered \(isLast ? "only \(read) of" : "more than the declared") \(length) bytes")
            }
            let instance = wrapping.instance
            let bytes = try await instance.recording("body_piece", in: work) {
                guard instance.mayBlock else { return try wrapped(piece, isLast: isLast) }
                // The work ends at the request's deadline; the transfer then cancels this reader.
                return try await instance.onWorker("body_piece", until: nil) { () throws(PluginError) in
                    try self.wrapped(piece, isLast: isLast)
                }
            }
            try add(bytes, isLast: isLast)
        }
        return state.withLock { state in
            defer { state.pending = state.pending.dropFirst(count) }
            return Array(state.pending.prefix(count))
        }
    }

    /// The last announced byte is held back until the scheme has seen the whole body: the transport asks for no more, and an excess
    /// would go unnoticed.
    private static func mustReadOn(_ state: State, _ wrappedLength: Int64) -> Bool {
        !state.isFinished && (state.pending.isEmpty || state.written == wrappedLength)
    }

    private func add(_ bytes: [UInt8], isLast: Bool) throws(PluginError) {
        let written = state.withLock { state in
            state.pending += bytes
            state.written += Int64(bytes.count)
            state.isFinished = isLast
            return state.written
        }
        guard !isLast || written == wrappedLength else {
            throw fault("it wrote only \(written) of the \(wrappedLength) bytes that wrap_body announced")
        }
    }

    private func wrapped(_ piece: [UInt8], isLast: Bool) throws(PluginError) -> [UInt8] {
        let instance = wrapping.instance
        var output = OutputSink(limit: wrappedLength - state.withLock(\.written))
        var errors = ErrorSink()
        let status = piece.withUnsafeBufferPointer { piece in
            PluginCall.run("body_piece", isTimed: true, instance.services, errors: &errors, output: &output) { sinks in
                instance.scheme.table.pointee.body_piece?(
                    instance.handle, wrapping.handle, nevod_bytes(piece), isLast ? 1 : 0, sinks.output, sinks.errors)
                    ?? Int32(NEVOD_UNSUPPORTED)
            }
        }
        if let problem = output.problem { throw fault(problem) }
        guard status == NEVOD_OK else { throw errors.error(status, in: "body_piece", of: instance.scheme) }
        return output.bytes
    }

    private func fault(_ problem: String) -> PluginError {
        let scheme = wrapping.instance.scheme
        return PluginError(
            scheme.plugin,
            .failed(
                scheme: scheme.id, function: "body_piece", status: Int32(NEVOD_INTERNAL), subject: "", message: problem,
                detail: nil)
        )
    }
}

/// A body that differs from its declared length, or is read a second time.
struct BodyLengthError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Admits one use.
final class SingleUse: Sendable {
    private let isUsed = Locked(false)

    /// - Returns: whether this is the first call.
    func begin() -> Bool {
        isUsed.withLock { isUsed in
            defer { isUsed = true }
            return !isUsed
        }
    }
}
