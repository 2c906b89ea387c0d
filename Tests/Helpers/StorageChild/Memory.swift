import ChildSupport
import Glibc
import NevodHost

/// The bytes to search for. All are changed by the same mask, so that the search itself makes no copy.
struct Needle {
    private static let mask: UInt8 = 0xA5
    private let masked: [UInt8]

    /// - Parameter masked: the masked bytes in hexadecimal.
    init(masked: String) {
        let digits = Array(masked.utf8)
        self.masked = stride(from: 0, to: digits.count, by: 2).map { Self.digit(digits[$0]) << 4 | Self.digit(digits[$0 + 1]) }
    }

    private static func digit(_ digit: UInt8) -> UInt8 { digit < 58 ? digit - 48 : digit - 87 }

    func count(in region: UnsafeRawBufferPointer) -> Int {
        var count = 0
        var rest = region
        while let start = rest.baseAddress, let found = memchr(start, Int32(masked[0] ^ Self.mask), rest.count) {
            rest = UnsafeRawBufferPointer(rebasing: rest[(UnsafeRawPointer(found) - start)...])
            guard rest.count >= masked.count else { break }
            var index = 1
            while index < masked.count, rest[index] ^ Self.mask == masked[index] { index += 1 }
            if index == masked.count { count += 1 }
            rest = UnsafeRawBufferPointer(rebasing: rest[1...])
        }
        return count
    }
}

/// Some of this process's memory.
private struct Region {
    let range: Range<UInt>
    let name: String
    /// Whether it is neither swapped nor dumped.
    let isProtected: Bool

    var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: range.lowerBound), count: range.count)
    }

    /// All readable memory that has been written to.
    static func all() -> [Region] {
        guard let file = fopen("/proc/self/smaps", "r") else { return [] }
        defer { fclose(file) }
        var (regions, head, isResident): ([Region], [Substring], Bool) = ([], [], false)
        var line = [CChar](repeating: 0, count: 4096)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            let words = text.split(whereSeparator: { $0 == " " || $0 == "\n" })
            guard let first = words.first else { continue }
            if !first.hasSuffix(":") {
                head = words
            } else if first == "Rss:" {
                isResident = words[1] != "0"
            } else if first == "VmFlags:", isResident, head[1].hasPrefix("r"), head.last?.hasPrefix("[v") == false {
                let ends = head[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
                regions.append(
                    Region(
                        range: ends[0]..<ends[1], name: head.count > 5 ? String(head[5]) : "anonymous",
                        isProtected: words.contains("lo") && words.contains("dd")))
            }
        }
        return regions
    }
}

/// For each needle, reports how often it occurs in protected memory, and how often and where it occurs elsewhere.
func searchMemory(_ storage: SQLiteStorage, _ key: StorageKey, _ needles: [Needle]) async throws {
    let tokens = TokenStorage<PluginToken>(storage: storage, key: key)
    guard try await tokens.load() != nil else { return say("no token") }
    let regions = Region.all()
    for needle in needles {
        var (protected, elsewhere) = (0, 0)
        var names: Set<String> = []
        for region in regions {
            let count = needle.count(in: region.bytes)
            if region.isProtected { protected += count } else { elsewhere += count }
            if count > 0, !region.isProtected { names.insert(region.name) }
        }
        say("\(protected) \(elsewhere) \(names.sorted().joined(separator: " "))")
    }
    withExtendedLifetime((tokens, storage)) {}
}
