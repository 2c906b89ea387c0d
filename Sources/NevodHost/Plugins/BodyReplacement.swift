internal import NevodPluginABI
internal import NevodSupport

/// The kind and length of a request's body: all that the checks of a replacement need.
struct BodyShape {
    let kind: Int32
    let length: Int64?

    init(_ body: HTTPBody) {
        kind = body.kind
        length = body.length
    }
}

/// The body that a scheme puts in place of a request's.
enum BodyReplacement {
    case bytes([UInt8])
    /// - Parameter length: the number of bytes that the scheme announced.
    case wrapping(BodyWrapping, length: Int64)

    /// - Parameter work: the request's work.
    func body(of original: HTTPBody, _ work: RequestWork?) -> HTTPBody {
        switch self {
        case .bytes([]): .none
        case .bytes(let bytes): .bytes(bytes)
        case .wrapping(let wrapping, let length): wrapping.body(of: original, length: length, work)
        }
    }
}

/// Owns the pointer that a scheme passed to `wrap_body`, and has the scheme free it.
final class BodyWrapping: Sendable {
    let instance: SchemeInstance
    /// The contract allows `body_free` on any thread, and calls of `body_piece` are serial.
    nonisolated(unsafe) let handle: UnsafeMutableRawPointer?

    init(_ handle: UnsafeMutableRawPointer?, of instance: SchemeInstance) {
        self.handle = handle
        self.instance = instance
    }

    deinit {
        guard let free = instance.scheme.table.pointee.body_free else { return }
        PluginCall.run("body_free", instance.services) { [instance, handle] _ in free(instance.handle, handle) }
    }

    /// Returns the body that `body_piece` makes from another one.
    ///
    /// - Parameters:
    ///   - original: a body of known length.
    ///   - length: the length of the new body, in bytes.
    ///   - work: the request's work.
    func body(of original: HTTPBody, length: Int64, _ work: RequestWork?) -> HTTPBody {
        let use = SingleUse()
        return .stream(
            // Weak, because the work may hold the request, and with it this body.
            HTTPBodyStream(madeAnewOf: original, length: length) { [weak work] in
                guard use.begin() else { throw BodyLengthError("a wrapped body can be sent only once") }
                return WrappedBodyReader(
                    try original.reader(), length: original.length ?? 0, wrapping: self, wrappedLength: length,
                    work: work)
            })
    }
}

extension HTTPBody {
    /// Returns a reader at the start of the body.
    fileprivate func reader() throws -> any HTTPBodyReader {
        switch self {
        case .none: ArrayReader([])
        case .bytes(let bytes): ArrayReader(bytes)
        case .stream(let stream): try stream.open()
        }
    }
}

/// Reads a body in memory.
private actor ArrayReader: HTTPBodyReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    func read(upTo count: Int) -> [UInt8] {
        let count = max(0, count)
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }
}

/// Reads the body that a scheme's `body_piece` makes from another one. A reader's calls are serial, so the scheme's are too.
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

    /// Holds back the last announced byte until the scheme has seen the whole body. After that byte the transport stops reading,
    /// so excess bytes would go unnoticed.
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
        guard status == NEVOD_OK else { throw errors.error(status, in: .function("body_piece"), of: instance.scheme) }
        return output.bytes
    }

    private func fault(_ problem: String) -> PluginError {
        let scheme = wrapping.instance.scheme
        return PluginError(
            scheme.plugin, failed: .function("body_piece"), of: scheme.id, status: Int32(NEVOD_INTERNAL), message: problem)
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

/// Takes the bytes that a plugin writes in one call. Lives on the stack of that call.
struct OutputSink {
    private(set) var bytes: [UInt8] = []
    /// The plugin's first mistake.
    private(set) var problem: String?
    private let limit: Int64

    /// - Parameter limit: how many bytes the call may write: what is left of the announced length.
    init(limit: Int64) {
        self.limit = limit
    }

    /// The contract's table for this sink. Each call stores its generation in the table's `host`.
    static var table: nevod_output {
        nevod_output(
            struct_size: UInt32(MemoryLayout<nevod_output>.size), reserved: 0, host: nil,
            write: { host, bytes in
                guard let sink = PluginCall.output(host, "write") else { return Int32(NEVOD_UNSUPPORTED) }
                return sink.pointee.write(bytes)
            })
    }

    private mutating func write(_ new: nevod_bytes) -> Int32 {
        guard problem == nil else { return Int32(NEVOD_UNSUPPORTED) }
        guard new.count == 0 || new.data != nil else {
            problem = "it wrote bytes that have a length but no data"
            return Int32(NEVOD_UNSUPPORTED)
        }
        guard new.count <= UInt64(limit - Int64(bytes.count)) else {
            problem = "it wrote more bytes than wrap_body announced"
            return Int32(NEVOD_UNSUPPORTED)
        }
        bytes += new.buffer
        return Int32(NEVOD_OK)
    }
}
