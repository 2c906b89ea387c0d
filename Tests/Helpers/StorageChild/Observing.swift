import ChildSupport
import Glibc
import NevodHost

/// Shows tokens as the store reports them, while it changes them at random. Prints "ready", "show KEY VALUE" for each reported
/// change, and "done" after its own changes. Goes on observing until it is killed.
func observe(_ storage: some Store, keys: Int, writes: Int, seed: Int) async throws {
    // A failed test doesn't kill it.
    alarm(300)
    var random = SplitMix(state: UInt64(truncatingIfNeeded: seed))
    let stores = (0..<keys).map { TokenStorage<Token>(storage: storage, key: StorageKey(rawValue: "token-\($0)")) }
    for (number, store) in stores.enumerated() {
        _ = try await store.load()
        let changes = store.changes
        Task {
            for await token in changes { say("show \(number) \(token?.value ?? "-")") }
        }
    }
    say("ready")
    for write in 0..<writes {
        let store = stores[Int(random.next() % UInt64(keys))]
        if random.next() % 4 == 0 {
            try await store.clear()
        } else {
            try await store.save(Token(value: "\(getpid())-\(write)"))
        }
    }
    say("done")
    while true { try await Task.sleep(for: .seconds(60)) }
}

struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
