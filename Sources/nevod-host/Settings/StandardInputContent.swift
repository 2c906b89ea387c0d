import NevodSupport

/// The content that requests read from standard input. With several requests it is kept after the first, because each sends it.
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
