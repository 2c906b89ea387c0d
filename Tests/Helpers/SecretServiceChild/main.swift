// Uses the keyring of the session in which a test starts it, and the lock file named by the variable NEVOD_CHILD_LOCK. Reads one
// command from each line, and writes one line with the result.
//
//   get KEY · set KEY VALUE · replace KEY OLD NEW     values in hexadecimal; `-`: no value, `=`: empty
//   many COUNT                                        sets and reads COUNT values at once
//   count KEY TIMES                                   increments a number by compare-and-swap, TIMES times
//   key STORE new|old [SALT]                          the key of a store
//   count-of STORE SALT                               the count of changes beside a key
//   keep STORE SALT COUNT set|removed                 keeps a count of changes
//   open PATH KEYFILE                                 opens a sealed store, with the keyring or a key file; says with which
//   rekey PATH                                        gives a sealed store another key, in the keyring
//   place                                             where the lock file is
//   available · limit SECONDS · turn                  `turn`: lets GLib's main loop of the process run for a moment
import ChildSupport
import Glibc
import NevodHost
import NevodHostSecretService
import NevodSupport

struct Mistake: Error {}

func hex(_ bytes: [UInt8]?) -> String {
    guard let bytes else { return "-" }
    return bytes.isEmpty ? "=" : bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

func bytes(_ text: String) -> [UInt8]? {
    if text == "-" { return nil }
    let digits = text == "=" ? [] : Array(text)
    return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
}

func many(_ storage: SecretServiceStorage, _ count: Int) async throws {
    try await withThrowingTaskGroup { group in
        for number in 0..<count {
            group.addTask {
                let key = StorageKey(rawValue: "many \(number)")
                try await storage.set([UInt8(number)], for: key)
                guard try await storage.data(for: key) == [UInt8(number)] else { throw Mistake() }
            }
        }
        try await group.waitForAll()
    }
}

func count(_ storage: SecretServiceStorage, _ key: StorageKey, _ times: Int) async throws {
    for _ in 0..<times {
        var isDone = false
        while !isDone {
            let old = try await storage.data(for: key)
            isDone = try await storage.replace(old, with: [(old?.first ?? 0) + 1], for: key)
        }
    }
}

/// Runs the main loop, like a program with windows does.
func turnMainLoop() -> Bool {
    typealias Iterate = @convention(c) (UnsafeMutableRawPointer?, Int32) -> Int32
    guard let library = dlopen("libglib-2.0.so.0", RTLD_NOW), let symbol = dlsym(library, "g_main_context_iteration") else {
        return false
    }
    // The threads of Swift's pool and of libdispatch block signals. Threads that run such a loop don't.
    var signals = sigset_t()
    sigemptyset(&signals)
    pthread_sigmask(SIG_SETMASK, &signals, nil)
    let iterate = unsafeBitCast(symbol, to: Iterate.self)
    for _ in 0..<200 {
        _ = iterate(nil, 0)
        usleep(1000)
    }
    return true
}

func result(of words: [String], _ limit: Int) async throws -> String {
    let lockFile = getenv("NEVOD_CHILD_LOCK").map { String(cString: $0) }
    let storage = try SecretServiceStorage(application: "example", lockFile: lockFile, limit: .seconds(limit))
    let key = StorageKey(rawValue: words.count > 1 ? words[1] : "")
    switch words[0] {
    case "get": return hex(try await storage.data(for: key))
    case "set": try await storage.set(bytes(words[2]), for: key)
    case "replace": return "\(try await storage.replace(bytes(words[2]), with: bytes(words[3]), for: key))"
    case "count-of":
        guard let store = bytes(words[1]).flatMap(StoreIdentifier.init) else { throw Mistake() }
        return await SecretServiceKey().count(of: store, salt: bytes(words[2]) ?? []).map { "\($0)" } ?? "-"
    case "keep":
        guard let store = bytes(words[1]).flatMap(StoreIdentifier.init) else { throw Mistake() }
        await SecretServiceKey().keep(
            UInt64(words[3]) ?? 0, of: store, salt: bytes(words[2]) ?? [], hasRemoved: words[4] == "removed")
    case "many": try await many(storage, Int(words[1]) ?? 0)
    case "count": try await count(storage, key, Int(words[2]) ?? 0)
    case "key":
        guard let store = StoreIdentifier(bytes(words[1]) ?? []) else { throw Mistake() }
        let salt = words.count > 3 ? bytes(words[3]) ?? [] : [0]
        let secret = try await SecretServiceKey().key(for: store, salt: salt, isNew: words[2] == "new")
        return hex(secret.withUnsafeBytes { Array($0) })
    case "open":
        return try await SQLiteStorage(path: words[1], keys: [SecretServiceKey(), KeyFile(path: words[2])]).keyKind
    case "rekey": try await SQLiteStorage(path: words[1], keys: [SecretServiceKey()]).rekey(SecretServiceKey())
    case "place": return storage.lockFile
    case "turn": return "\(turnMainLoop())"
    case "available": return "\(await SecretServiceStorage.isAvailable())"
    default: throw Mistake()
    }
    return "ok"
}

var limit = 10
while let line = readLine() {
    let words = line.split(separator: " ").map(String.init)
    if words[0] == "limit" {
        limit = Int(words[1]) ?? limit
        say("ok")
        continue
    }
    do {
        say(try await result(of: words, limit))
    } catch let error as StorageError {
        say("\(error.code): \(error)")
    } catch {
        say("\(error)")
    }
}
