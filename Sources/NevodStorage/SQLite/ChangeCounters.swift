internal import Glibc
internal import NevodSupport

/// Counts the changes of a store in a file that all processes share. So a process can tell with two system calls, and without the
/// database, whether a cached value is current.
///
/// The file has a slot for each key; several keys may share one. A slot holds two marks: one of the last change that has begun,
/// and one of the last change that has finished. They differ while a change is under way. If the writing process dies meanwhile,
/// they stay different, and no process uses its cached values until the next change. Marks are random, so that no mark recurs if
/// the file is lost and created again.
///
/// The file is read, not mapped into memory: if a mapped file is truncated, using its memory ends the process. Each read notices
/// if the file was removed, replaced or truncated, and then returns nothing; the next change opens or creates another file.
///
/// The file also records that a store existed beside it, so that an emptied store isn't taken for a new one.
final class ChangeCounters: Sendable {
    private static let slots = 512
    private static let slotSize = 2 * wordSize
    private static let wordSize = MemoryLayout<UInt64>.size
    /// Two words follow the slots: whether there is a store, and whether every slot has a mark.
    private static let storeOffset = slots * slotSize
    private static let markedOffset = storeOffset + wordSize
    private static let size = markedOffset + wordSize

    private let path: String
    private let file: Locked<CountersFile>

    init(_ path: String) throws(StorageError) {
        self.path = path
        file = Locked(try CountersFile(path, size: Self.size))
    }

    private var current: CountersFile { file.withLock(\.self) }

    /// Whether a store has been created beside this file.
    var isOfStore: Bool { current.word(at: Self.storeOffset) ?? 0 != 0 }

    func rememberStore() {
        current.write(1, at: Self.storeOffset)
    }

    private func slot(of key: StorageKey) -> Int { Self.number(of: key) * Self.slotSize }

    /// The number of a key's slot.
    static func number(of key: StorageKey) -> Int { Int(key.digest % UInt64(slots)) }

    /// The contents of the slots.
    ///
    /// - Returns: nil if the file that this process has open is gone, so that nothing is known.
    func marks() -> [Mark]? {
        let file = current
        guard file.isCurrent, let words = file.words(Self.slots * 2) else { return nil }
        return (0..<Self.slots).map { Mark(begun: words[2 * $0], finished: words[2 * $0 + 1]) }
    }

    /// The contents of one slot.
    struct Mark: Equatable {
        let begun: UInt64
        let finished: UInt64

        /// Whether a change is under way, or was interrupted.
        var isUnfinished: Bool { begun != finished }
    }

    /// - Returns: nil while a change is under way or was interrupted, or if the file is gone.
    func count(of key: StorageKey) -> UInt64? {
        let file = current
        guard file.isCurrent, let (begun, finished) = file.words(at: slot(of: key)), begun == finished, begun != 0 else {
            return nil
        }
        return begun
    }

    /// Whether every slot has a mark. Values of a slot without one are not cached.
    var isMarked: Bool { current.isCurrent && current.word(at: Self.markedOffset) ?? 0 != 0 }

    /// Gives each slot its first mark. Called while no other process can change the store.
    func mark() {
        let file = reopened() ?? current
        guard file.word(at: Self.markedOffset) ?? 0 == 0 else { return }
        // Overwrites every slot, because a program for layout 1 may have left counts in another form.
        for slot in 0..<Self.slots {
            let mark = Self.newMark()
            file.write(mark, mark, at: slot * Self.slotSize)
        }
        file.write(1, at: Self.markedOffset)
    }

    /// Called before each change, while no other process can change the store.
    func begin(_ key: StorageKey) -> UInt64 {
        mark()
        let mark = Self.newMark()
        current.write(mark, at: slot(of: key))
        return mark
    }

    /// Called after the change has been made or has failed. Has no effect if another change has begun meanwhile: its end counts
    /// for both changes.
    func end(_ key: StorageKey, _ mark: UInt64) {
        let slot = slot(of: key)
        // While the change was made, another process may have created a new file, and cached the old value under that file's
        // marks.
        if let new = reopened() { return new.write(Self.newMark(), at: slot) }
        // A change that begins after this check leaves different marks too, so the slot isn't used until the next change.
        guard current.word(at: slot) == mark else { return }
        current.write(mark, at: slot + Self.wordSize)
    }

    /// Opens the file at the path if it isn't the open one.
    ///
    /// - Returns: nil if it is already open, or can't be opened.
    private func reopened() -> CountersFile? {
        guard !current.isCurrent, let new = try? CountersFile(path, size: Self.size) else { return nil }
        new.write(1, at: Self.storeOffset)
        file.withLock { $0 = new }
        return new
    }

    private static func newMark() -> UInt64 { .random(in: 1 ... .max) }
}

/// The open file of the counters.
private final class CountersFile: Sendable {
    private let path: String
    private let file: PrivateFile
    private let identity: FileIdentity
    private let size: Int

    /// Creates the file if it is missing, and gives it its full size.
    init(_ path: String, size: Int) throws(StorageError) {
        let file = try PrivateFile.created(path)
        let failure = posix_fallocate(file.descriptor, 0, off_t(size))
        guard failure == 0, let identity = FileIdentity(file.descriptor) else {
            throw StorageError(path, "can't be created", errno: failure == 0 ? errno : failure)
        }
        (self.path, self.size, self.identity) = (path, size, identity)
        self.file = file
    }

    /// Whether the file is still at its path, at its full size.
    var isCurrent: Bool {
        guard let now = FileIdentity(at: path) else { return false }
        return identity.isSame(as: now) && now.size >= size
    }

    /// - Returns: nil if the file was truncated before this word.
    func word(at offset: Int) -> UInt64? {
        var word: UInt64 = 0
        let count = withUnsafeMutableBytes(of: &word) { pread(file.descriptor, $0.baseAddress, $0.count, off_t(offset)) }
        return count == MemoryLayout<UInt64>.size ? word : nil
    }

    /// Two words. The first one is read first.
    func words(at offset: Int) -> (UInt64, UInt64)? {
        var words: (UInt64, UInt64) = (0, 0)
        let count = withUnsafeMutableBytes(of: &words) { pread(file.descriptor, $0.baseAddress, $0.count, off_t(offset)) }
        return count == 2 * MemoryLayout<UInt64>.size ? words : nil
    }

    /// The first words of the file.
    func words(_ count: Int) -> [UInt64]? {
        var words = [UInt64](repeating: 0, count: count)
        let size = words.withUnsafeMutableBytes { pread(file.descriptor, $0.baseAddress, $0.count, 0) }
        return size == count * MemoryLayout<UInt64>.size ? words : nil
    }

    func write(_ word: UInt64, at offset: Int) {
        withUnsafeBytes(of: word) { _ = pwrite(file.descriptor, $0.baseAddress, $0.count, off_t(offset)) }
    }

    func write(_ first: UInt64, _ second: UInt64, at offset: Int) {
        withUnsafeBytes(of: (first, second)) { _ = pwrite(file.descriptor, $0.baseAddress, $0.count, off_t(offset)) }
    }
}
