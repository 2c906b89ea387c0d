import Glibc
import NevodHost
import NevodSupport

/// Measures opening, lookups and saves in stores of 1,000, 100,000 and 1,000,000 tokens, in turns.
struct StorageBench {
    private struct Measured {
        var opens: [Double] = []
        var lookups: [Double] = []
        var knownLookups: [Double] = []
        var saves: [Double] = []
        /// The process's memory in kilobytes, with an open store that has been read.
        var memory: [Double] = []
    }

    private static let sizes = [1_000, 100_000, 1_000_000]
    private static let rounds = 9
    private static let lookups = 1_000
    private static let saves = 50
    private static let valueSize = 400

    let folder: String

    func run() async throws {
        var results = Self.sizes.map { _ in Measured() }
        for size in Self.sizes { try await fill(size) }
        for round in 0...Self.rounds {
            for (index, size) in Self.sizes.enumerated() {
                var measured = Measured()
                try await measure(size, round, &measured)
                // The first round warms up the page cache.
                if round == 0 { continue }
                results[index].opens += measured.opens
                results[index].lookups += measured.lookups
                results[index].knownLookups += measured.knownLookups
                results[index].saves += measured.saves
                results[index].memory += measured.memory
            }
        }
        row([
            "tokens", "file", "open", "lookup", "÷ 1 k", "lookup of what was read before", "save", "÷ 1 k", "memory",
        ])
        row(Array(repeating: "---", count: 9))
        for (index, size) in Self.sizes.enumerated() {
            let (result, first) = (results[index], results[0])
            let ratio = { (values: [Double], below: [Double]) in rounded(median(zip(values, below).map { $0 / $1 }), 2) }
            row([
                "\(size)", "\(rounded(Double(fileSize(size)) / 1e6, 1)) MB", "\(rounded(median(result.opens) * 1e3, 2)) ms",
                "\(rounded(median(result.lookups) * 1e6, 1)) µs", ratio(result.lookups, first.lookups),
                "\(rounded(median(result.knownLookups) * 1e6, 2)) µs", "\(rounded(median(result.saves) * 1e6, 0)) µs",
                ratio(result.saves, first.saves), "\(rounded(median(result.memory) / 1e3, 1)) MB",
            ])
        }
    }

    private func path(_ size: Int) -> String { "\(folder)/tokens-\(size).db" }

    private func open(_ size: Int) async throws -> SQLiteStorage {
        try await SQLiteStorage(path: path(size), keys: [KeyFile(path: "\(folder)/key")])
    }

    private func name(_ number: Int) -> StorageKey { StorageKey(rawValue: "com.example.session.user-\(number)") }

    private func fill(_ size: Int) async throws {
        let storage = try await open(size)
        let value = Secret(copying: [UInt8](repeating: 0x78, count: Self.valueSize))
        for start in stride(from: 0, to: size, by: 5_000) {
            try await storage.setAll((start..<min(start + 5_000, size)).map { (name($0), value) })
        }
    }

    /// Measures a round with a newly opened store, so that nothing is cached in the process.
    private func measure(_ size: Int, _ round: Int, _ measured: inout Measured) async throws {
        let start = now()
        let storage = try await open(size)
        measured.opens.append(now() - start)
        // Distinct names, spread over the store, different in each round.
        let step = size / Self.lookups
        let names = (0..<Self.lookups).map { name(($0 &* 7_919 % Self.lookups) * step + round % step) }
        measured.lookups.append(try await lookUp(names, storage))
        measured.knownLookups.append(try await lookUp(names, storage))
        measured.memory.append(try residentKilobytes())
        let value = Secret(copying: [UInt8](repeating: 0x79, count: Self.valueSize))
        let saving = now()
        for name in names.prefix(Self.saves) { try await storage.set(value, for: name) }
        measured.saves.append((now() - saving) / Double(Self.saves))
    }

    private func lookUp(_ names: [StorageKey], _ storage: SQLiteStorage) async throws -> Double {
        let start = now()
        for name in names {
            guard try await storage.secret(for: name)?.count == Self.valueSize else {
                throw BenchError(description: "\(name) is not there")
            }
        }
        return (now() - start) / Double(names.count)
    }

    private func fileSize(_ size: Int) -> Int {
        var info = stat()
        return lstat(path(size), &info) == 0 ? Int(info.st_size) : 0
    }

    private func residentKilobytes() throws -> Double {
        guard let file = fopen("/proc/self/statm", "r") else { throw BenchError(description: "no /proc") }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        fgets(&line, Int32(line.count), file)
        let words = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self).split(separator: " ")
        guard words.count > 1, let pages = Double(words[1]) else { throw BenchError(description: "no /proc") }
        return pages * Double(sysconf(Int32(_SC_PAGESIZE))) / 1024
    }
}
