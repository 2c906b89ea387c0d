import ChildSupport
import Glibc
import NevodHost

let key: StorageKey = "token"

/// The protocols that both stores conform to.
protocol Store: CompareAndSwapStorage, RenewalLockingStorage where Value == [UInt8] {}
extension FileStorage: Store {}
extension SQLiteStorage: Store {}

func text(_ value: [UInt8]?) -> Substring? {
    value.map { String(decoding: $0, as: UTF8.self) }?.prefix { $0 != " " }
}

/// A value of many copies of a number, so that a part of a value is never valid.
func value(_ number: Int) -> [UInt8] {
    let copies = 1 + number % 9 * 1500
    return Array("\(number) \(copies)".utf8) + Array(String(repeating: " \(number)", count: copies).utf8)
}

func alternate(_ storage: some Store) async throws {
    var number = try await text(storage.data(for: key)).flatMap { Int($0) } ?? 0
    while true {
        number += 1
        say("s \(number)")
        try await storage.set(value(number), for: key)
        say("d \(number)")
    }
}

func count(_ storage: some Store, _ times: Int) async throws {
    for _ in 0..<times {
        var isDone = false
        while !isDone {
            let old = try await storage.data(for: key)
            let new = (text(old).flatMap { Int($0) } ?? 0) + 1
            isDone = try await storage.replace(old, with: Array("\(new)".utf8), for: key)
        }
    }
}

func rekey(_ storage: SQLiteStorage, _ sources: [any StoreKeySource]) async throws {
    var number = 0
    while true {
        number += 1
        say("s \(number)")
        if let source = sources.first(where: { $0.kind != storage.keyKind }) { try await storage.rekey(source) }
        say("d \(number)")
    }
}

func limit(_ bytes: rlim_t, _ user: uid_t?) {
    signal(SIGXFSZ, SIG_IGN)
    var limit = rlimit(rlim_cur: bytes, rlim_max: bytes)
    setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    if let user, setuid(user) != 0 { exit(2) }
}

func lock(_ storage: some Store, _ key: StorageKey) async throws {
    try await storage.withRenewalLock(for: key) {
        say("held")
        while true { pause() }
    }
}
