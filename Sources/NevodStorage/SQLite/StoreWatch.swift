internal import NevodSupport

/// Finds out from the file of change counters which keys of a store have changed.
final class StoreWatch: StorageActivity {
    private let known: KnownSecrets
    private let watch: FolderWatch?

    private init(_ known: KnownSecrets, _ watch: FolderWatch?) {
        self.known = known
        self.watch = watch
    }

    deinit {
        known.endNoting()
    }

    static func begin(
        _ connection: SQLiteConnection, _ known: KnownSecrets, _ notify: @escaping @Sendable (StorageKey) -> Void
    ) -> StoreWatch {
        let (folder, name) = (connection.path.parentFolder ?? ".", connection.path.fileName)
        let slots = WatchedSlots(connection.counters, known, notify)
        let watch = FolderWatcher.shared.watch(folder, seesWrites: true) { change in
            switch change {
            case .written("\(name)-changes"): slots.compare()
            // The file was replaced, as from a backup. The next read reports that.
            case .renamed("\(name)-changes"), .renamed(name), .anything: slots.reportAll()
            case .written, .renamed: break
            }
        }
        known.beginNoting()
        // Read only after the watch has begun, so that the next comparison finds every change after this.
        slots.begin()
        return StoreWatch(known, watch)
    }
}

/// The slots of the change counters as they were last seen.
private final class WatchedSlots: Sendable {
    private struct State {
        var marks: [ChangeCounters.Mark]?
        var isChecking = false
    }

    private let counters: ChangeCounters
    private let known: KnownSecrets
    private let notify: @Sendable (StorageKey) -> Void
    private let state = Locked(State())

    init(_ counters: ChangeCounters, _ known: KnownSecrets, _ notify: @escaping @Sendable (StorageKey) -> Void) {
        self.counters = counters
        self.known = known
        self.notify = notify
    }

    func begin() {
        let marks = counters.marks()
        state.withLock { $0.marks = marks }
    }

    /// Reports the keys of the slots that have changed since the last comparison.
    func compare() {
        guard let marks = counters.marks() else { return reportAll() }
        let (changed, mustCheck) = state.withLock { state -> ([Int]?, Bool) in
            let changed = state.marks.map { old in marks.indices.filter { marks[$0] != old[$0] } }
            state.marks = marks
            let isUnfinished = changed.map { $0.contains { marks[$0].isUnfinished } } ?? false
            guard isUnfinished, !state.isChecking else { return (changed, false) }
            state.isChecking = true
            return (changed, true)
        }
        for key in known.used(in: changed) { notify(key) }
        if mustCheck { checkLater() }
    }

    func reportAll() {
        let marks = counters.marks()
        state.withLock { $0.marks = marks }
        for key in known.used(in: nil) { notify(key) }
    }

    /// Checks once more later, because a process may be killed after it has made a change and before it has counted it, and then
    /// no further event arrives.
    private func checkLater() {
        _ = TimerQueue.shared.schedule(at: .now + .seconds(1)) { [weak self] in
            guard let self else { return }
            state.withLock { $0.isChecking = false }
            guard let marks = counters.marks() else { return reportAll() }
            let unfinished = marks.indices.filter { marks[$0].isUnfinished }
            for key in known.used(in: unfinished) { notify(key) }
        }
    }
}
