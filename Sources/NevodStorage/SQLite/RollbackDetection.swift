internal import NevodSupport

/// The highest number of changes that this process has seen of a store. A lower number shows that an older copy of the store has
/// taken its place.
final class StoreCount: Sendable {
    private struct State {
        /// From the register, as this process read or wrote it last.
        var seen: UInt64 = 0
        /// The count that is kept with the key, and the number of that key.
        var kept: (count: UInt64, keyNumber: Int64)?
        var isKeptRead = false
    }

    private let path: String
    private let state = Locked(State())

    init(of path: String) {
        self.path = path
    }

    /// Reads the count that is kept with the key, once, because later only this process adds to it. Called before the first
    /// change or verification, so that a program that only reads makes no further call to a keyring.
    func readKept(in keyring: StoreKeyring) async {
        guard !state.withLock(\.isKeptRead) else { return }
        let kept = await keyring.keptCount()
        state.withLock { state in
            if !state.isKeptRead { (state.kept, state.isKeptRead) = (kept, true) }
        }
    }

    /// The count that was kept with this key when it was read; 0 if there was none. With a new key, the store is accepted as it
    /// is.
    func known(_ opened: OpenedKey) -> UInt64 {
        let kept = state.withLock(\.kept)
        return kept?.keyNumber == opened.number ? kept?.count ?? 0 : 0
    }

    /// - Throws: `damaged` if the store is older than it was earlier while this process had it open.
    func check(_ head: RegisterHead) throws(StorageError) {
        let seen = state.withLock { state in
            state.seen = max(state.seen, head.changes)
            return state.seen
        }
        guard head.changes < seen else { return }
        throw StorageError(
            .damaged, path,
            problem: "was turned back while it was open: \(seen - head.changes) of its changes are missing",
            remedy: "stop the programs that use it, and start them again with the right store")
    }

    /// The problem that verification reports; nil if there is none.
    func problem(_ head: RegisterHead, _ opened: OpenedKey) -> String? {
        let highest = max(head.turnedBackFrom, known(opened))
        guard highest > head.changes || head.turnedBackFrom > 0 else { return nil }
        return
            "\(path): was turned back, or is a copy: it counted \(highest) changes before, and \(head.changes) now, so removed or "
            + "replaced values may be there again; if that was intended, nevod-host store rekey or rekey(_:) accepts it"
    }
}
