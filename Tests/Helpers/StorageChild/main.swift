// Uses a store for a test in another process, which may kill it at any moment. STORE is a folder of files, or after `sqlite:` the
// folder of a database and its key.
//
//   storage-child alternate STORE           saves 1, 2, 3, … forever; prints "s N" before each and "d N" after it
//   storage-child count STORE TIMES         increments a number by compare-and-swap, TIMES times
//   storage-child save STORE BYTES [LIMIT [UID]]
//                                           saves BYTES bytes as the user UID, with LIMIT as the limit on file sizes
//   storage-child hold FOLDER               locks a folder of files until it is killed
//   storage-child lock STORE KEY            holds the renewal lock of a key until it is killed
//   storage-child rekey STORE               changes the store's key forever, with "s N" and "d N": alternates between the key
//                                           file's key and the key in the variable NEVOD_CHILD_KEY
//   storage-child migrate STORE             opens the store with a layout that it doesn't have yet
//   storage-child fleet STORE URL SESSIONS FIRST LAST
//                                           sends a request for each session in each round
//   storage-child storm STORE URL SESSIONS FIRST LAST
//                                           does the same, and repeats requests while the store is busy
//   storage-child observe STORE KEYS WRITES SEED
//                                           makes WRITES random changes, and shows all reported changes until it is killed
//   storage-child memory STORE KEY MASKED…  loads a token, then looks for texts in its own memory
//   storage-child cache FOLDER URL LIMIT STEP…
//                                           sends requests through a cache, with LIMIT as the limit on file sizes, or 0
//   storage-child exit STORE                says on exit, after other libraries' clean-up, whether OpenSSL is usable
import COpenSSL
import ChildSupport
import Glibc
import NevodHost

let arguments = CommandLine.arguments
let words = Array(arguments.dropFirst(3))
let numbers = words.map { Int($0) ?? 0 }
let place = arguments.count > 2 ? arguments[2] : ""

func run(_ storage: some Store) async throws {
    switch arguments[1] {
    case "alternate": try await alternate(storage)
    case "count": try await count(storage, numbers[0])
    case "lock": try await lock(storage, StorageKey(rawValue: words[0]))
    case "fleet", "storm":
        let member = FleetMember(storage, url: words[0], sessions: numbers[1])
        try await member.run(numbers[2]...numbers[3], isPatient: arguments[1] == "storm")
    case "observe": try await observe(storage, keys: numbers[0], writes: numbers[1], seed: numbers[2])
    default: try await storage.set([UInt8](repeating: 0x6E, count: numbers[0]), for: key)
    }
}

func run(_ folder: Substring) async throws {
    let (path, source) = ("\(folder)/tokens.db", KeyFile(path: "\(folder)/key"))
    if arguments[1] == "migrate" {
        let next = SQLiteSchema(steps: SQLiteSchema.current.steps + ["ALTER TABLE entry ADD COLUMN note TEXT"])
        say("open")
        _ = try await SQLiteStorage(path: path, keys: [source], schema: next, mustExist: true)
        return
    }
    let sources: [any StoreKeySource] = [source, EnvironmentKey(variable: "NEVOD_CHILD_KEY")]
    let storage = try await SQLiteStorage(path: path, keys: sources)
    switch arguments[1] {
    case "rekey": try await rekey(storage, sources)
    case "memory": try await searchMemory(storage, StorageKey(rawValue: words[0]), words.dropFirst().map { Needle(masked: $0) })
    default: try await run(storage)
    }
}

do {
    if arguments[1] == "save", numbers.count > 1 {
        limit(rlim_t(numbers[1]), numbers.count > 2 ? uid_t(numbers[2]) : nil)
    }
    if arguments[1] == "exit" {
        func isUsable() -> Bool {
            withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { RAND_bytes($0.baseAddress, 1) == 1 }
        }
        // Before the first use of OpenSSL, because exit handlers run in reverse order.
        atexit { say(isUsable() ? "usable" : "cleaned up") }
        exit(isUsable() ? 0 : 1)
    }
    if arguments[1] == "cache" {
        try await useCache(place, words[0], numbers[1], Array(words.dropFirst(2)))
        say("ok")
        exit(0)
    }
    if arguments[1] == "hold" {
        let lock = open("\(place)/.lock", O_RDWR | O_CREAT, 0o600)
        flock(lock, LOCK_EX)
        say("held")
        while true { pause() }
    }
    if place.hasPrefix("sqlite:") {
        try await run(place.dropFirst(7))
    } else {
        try await run(FileStorage(directory: place))
    }
    say("ok")
} catch let error as StorageError {
    say("\(error.code): \(error)")
}
