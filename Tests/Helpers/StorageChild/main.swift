// Uses a FileStorage for a test in another process, which may kill it at any instant.
//
//   storage-child alternate FOLDER          saves 1, 2, 3, … without end; says "s N" before each and "d N" after it
//   storage-child count FOLDER TIMES        adds one to a number, by compare-and-swap, so many times
//   storage-child save FOLDER BYTES [LIMIT [UID]]
//                                           saves so many bytes, with a limit on the size of files, as a user
//   storage-child hold FOLDER               locks the folder until it is killed
import Glibc
import NevodHost

let key: StorageKey = "token"
let arguments = CommandLine.arguments

func say(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    _ = write(1, bytes, bytes.count)
}

func text(_ value: [UInt8]?) -> Substring? {
    value.map { String(decoding: $0, as: UTF8.self) }?.prefix { $0 != " " }
}

/// So many copies of a number that a piece of a value is never a value.
func value(_ number: Int) -> [UInt8] {
    let copies = 1 + number % 9 * 1500
    return Array("\(number) \(copies)".utf8) + Array(String(repeating: " \(number)", count: copies).utf8)
}

func alternate(_ storage: FileStorage) async throws {
    var number = try await text(storage.data(for: key)).flatMap { Int($0) } ?? 0
    while true {
        number += 1
        say("s \(number)")
        try await storage.set(value(number), for: key)
        say("d \(number)")
    }
}

func count(_ storage: FileStorage, _ times: Int) async throws {
    for _ in 0..<times {
        var isDone = false
        while !isDone {
            let old = try await storage.data(for: key)
            let new = (text(old).flatMap { Int($0) } ?? 0) + 1
            isDone = try await storage.replace(old, with: Array("\(new)".utf8), for: key)
        }
    }
}

func limit(_ bytes: rlim_t, _ user: uid_t?) {
    signal(SIGXFSZ, SIG_IGN)
    var limit = rlimit(rlim_cur: bytes, rlim_max: bytes)
    setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    if let user, setuid(user) != 0 { exit(2) }
}

do {
    let numbers = arguments.dropFirst(3).compactMap { Int($0) }
    let folder = arguments.count > 2 ? arguments[2] : ""
    if arguments[1] == "save", numbers.count > 1 {
        limit(rlim_t(numbers[1]), numbers.count > 2 ? uid_t(numbers[2]) : nil)
    }
    if arguments[1] == "hold" {
        let lock = open("\(folder)/.lock", O_RDWR | O_CREAT, 0o600)
        flock(lock, LOCK_EX)
        say("held")
        while true { pause() }
    }
    let storage = try FileStorage(directory: folder)
    switch arguments[1] {
    case "alternate": try await alternate(storage)
    case "count": try await count(storage, numbers[0])
    default: try await storage.set([UInt8](repeating: 0x6E, count: numbers[0]), for: key)
    }
    say("ok")
} catch let error as StorageError {
    say("\(error.code): \(error)")
}
