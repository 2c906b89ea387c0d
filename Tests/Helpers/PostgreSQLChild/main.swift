// Uses a PostgreSQLStorage for a test in another process.
//
//   postgresql-child fleet CONNECTION SCHEMA KEYFILE URL SESSIONS FIRST LAST
//                     sends a request for each session in each round
//   postgresql-child storm CONNECTION SCHEMA KEYFILE URL SESSIONS FIRST LAST
//                     does the same, and repeats requests while the store is away
//   postgresql-child brief CONNECTION SCHEMA KEYFILE URL SESSIONS FIRST LAST
//                     is a fleet whose members wait only a second for a dead holder
//   postgresql-child hold CONNECTION SCHEMA KEYFILE KEY
//                     prints "held" when it has a key's renewal lock, and keeps the lock until it is killed
import ChildSupport
import Glibc
import NevodHost
import NevodHostPostgreSQL

do {
    let arguments = CommandLine.arguments
    let isBrief = ["brief", "hold"].contains(arguments[1])
    let storage = try await PostgreSQLStorage(
        connection: arguments[2], schema: arguments[3], keys: [KeyFile(path: arguments[4])],
        times: isBrief
            ? PostgreSQLRenewalTimes(beat: .milliseconds(100), patience: .seconds(1)) : PostgreSQLRenewalTimes())
    let words = Array(arguments.dropFirst(5))
    switch arguments[1] {
    case "hold":
        try await storage.withRenewalLock(for: StorageKey(rawValue: words[0])) {
            say("held")
            while true { pause() }
        }
    default:
        let numbers = words.map { Int($0) ?? 0 }
        let member = FleetMember(storage, url: words[0], sessions: numbers[1])
        try await member.run(numbers[2]...numbers[3], isPatient: arguments[1] == "storm")
    }
} catch {
    say("\(error)")
}
