internal import Glibc
internal import NevodHost

/// Facts about an ELF library that the host doesn't read: its segments, its dynamic section, its symbols and the versions that it
/// needs (System V ABI, chapters 4 and 5). No number in the file is trusted.
struct ELFTables: ~Copyable {
    struct Segment {
        let type: UInt32
        let flags: UInt32
        let offset: UInt64
        let address: UInt64
        let fileSize: UInt64
    }

    struct Section {
        let name: String
        let type: UInt32
        let offset: UInt64
        let size: UInt64
        let link: Int
    }

    struct Symbol {
        let name: String
        /// STB_…: 0 local, 1 global, 2 weak, 10 unique.
        let binding: UInt8
        /// STT_…: 2 is a function.
        let type: UInt8
        let isDefined: Bool
    }

    private let file: ELFFile
    let segments: [Segment]
    let sections: [Section]
    /// The entries of the dynamic section, in their order.
    let dynamic: [(tag: UInt64, value: UInt64)]

    private static let mostEntries = 100_000
    private static let mostSymbols = 1_000_000
    private static let longestName = 4096

    init(_ file: consuming ELFFile) {
        segments = Self.segments(file)
        sections = Self.sections(file)
        dynamic = Self.dynamic(file, segments)
        self.file = file
    }

    var size: Int { file.bytes.count }

    func has(section name: String) -> Bool { sections.contains { $0.name == name } }

    /// Whether a section contains the text.
    func has(_ text: String, inSection name: String) -> Bool {
        guard let section = sections.first(where: { $0.name == name }), section.offset <= size,
            section.size <= UInt64(size) - section.offset
        else { return false }
        let bytes = UnsafeRawBufferPointer(rebasing: file.bytes[Int(section.offset)..<Int(section.offset + section.size)])
        let words = Array(text.utf8)
        guard let start = bytes.baseAddress, let first = words.first else { return false }
        var offset = 0
        while offset <= bytes.count - words.count, let found = memchr(start + offset, Int32(first), bytes.count - offset) {
            offset = UnsafeRawPointer(found) - start
            guard offset <= bytes.count - words.count else { return false }
            if memcmp(found, words, words.count) == 0 { return true }
            offset += 1
        }
        return false
    }

    func value(_ tag: UInt64) -> UInt64? { dynamic.last { $0.tag == tag }?.value }

    // MARK: Tables

    private static func segments(_ file: borrowing ELFFile) -> [Segment] {
        guard let table: UInt64 = file.load(32), table <= file.bytes.count, let count: UInt16 = file.load(56) else { return [] }
        var segments: [Segment] = []
        for index in 0..<Int(count) {
            let entry = Int(table) + index * 56
            guard let type: UInt32 = file.load(entry), let flags: UInt32 = file.load(entry + 4),
                let offset: UInt64 = file.load(entry + 8), let address: UInt64 = file.load(entry + 16),
                let size: UInt64 = file.load(entry + 32)
            else { break }
            segments.append(Segment(type: type, flags: flags, offset: offset, address: address, fileSize: size))
        }
        return segments
    }

    private static func sections(_ file: borrowing ELFFile) -> [Section] {
        guard let table: UInt64 = file.load(40), table > 0, table <= file.bytes.count, let count: UInt16 = file.load(60),
            let entrySize: UInt16 = file.load(58), entrySize >= 64, let names: UInt16 = file.load(62)
        else { return [] }
        let header = { (index: Int) in Int(table) + index * Int(entrySize) }
        let namesOffset: UInt64 = file.load(header(Int(names)) + 24) ?? 0
        let namesSize: UInt64 = file.load(header(Int(names)) + 32) ?? 0
        var sections: [Section] = []
        for index in 0..<Int(count) {
            guard let name: UInt32 = file.load(header(index)), let type: UInt32 = file.load(header(index) + 4),
                let offset: UInt64 = file.load(header(index) + 24), let size: UInt64 = file.load(header(index) + 32),
                let link: UInt32 = file.load(header(index) + 40)
            else { break }
            sections.append(
                Section(
                    name: text(file, namesOffset, UInt64(name), namesSize) ?? "", type: type, offset: offset, size: size,
                    link: Int(link)))
        }
        return sections
    }

    private static func dynamic(_ file: borrowing ELFFile, _ segments: [Segment]) -> [(tag: UInt64, value: UInt64)] {
        guard let segment = segments.last(where: { $0.type == 2 }), segment.offset <= file.bytes.count else { return [] }
        var entries: [(tag: UInt64, value: UInt64)] = []
        while entries.count < mostEntries {
            let entry = Int(segment.offset) + entries.count * 16
            guard let tag: UInt64 = file.load(entry), let value: UInt64 = file.load(entry + 8), tag != 0 else { break }
            entries.append((tag, value))
        }
        return entries
    }

    /// Returns the text at `offset + index`, up to its NUL; nil if it extends beyond its table or the file.
    private static func text(_ file: borrowing ELFFile, _ offset: UInt64, _ index: UInt64, _ size: UInt64) -> String? {
        let count = UInt64(file.bytes.count)
        guard offset <= count, size <= count - offset, index < size else { return nil }
        let rest = file.bytes[Int(offset + index)..<Int(offset + size)].prefix(longestName + 1)
        let name = rest.prefix { $0 != 0 }
        guard name.count < rest.count else { return nil }
        return String(decoding: name, as: UTF8.self)
    }

    // MARK: Symbols

    /// The dynamic symbols; nil if the file has no section headers, which are needed to find them.
    func symbols() -> [Symbol]? {
        guard let table = sections.first(where: { $0.type == 11 }), sections.indices.contains(table.link),
            table.offset <= size, table.size <= UInt64(size) - table.offset
        else { return nil }
        let names = sections[table.link]
        var symbols: [Symbol] = []
        for index in 0..<min(Int(table.size / 24), Self.mostSymbols) {
            let entry = Int(table.offset) + index * 24
            guard let name: UInt32 = file.load(entry), let info: UInt8 = file.load(entry + 4),
                let section: UInt16 = file.load(entry + 6)
            else { break }
            guard name != 0, let text = Self.text(file, names.offset, UInt64(name), names.size) else { continue }
            symbols.append(Symbol(name: text, binding: info >> 4, type: info & 15, isDefined: section != 0))
        }
        return symbols
    }

    /// The functions and variables that other libraries must provide.
    func imports() -> [String] {
        (symbols() ?? []).filter { !$0.isDefined && $0.binding != 0 }.map(\.name)
    }

    /// The versions of other libraries' symbols that the library needs: `("libc.so.6", "GLIBC_2.34")`.
    func neededVersions() -> [(library: String, version: String)] {
        guard let table = sections.first(where: { $0.type == 0x6FFF_FFFE }), sections.indices.contains(table.link),
            table.offset <= size, table.size <= UInt64(size) - table.offset
        else { return [] }
        let names = sections[table.link]
        let end = Int(table.offset + table.size)
        var versions: [(library: String, version: String)] = []
        var entry = Int(table.offset)
        // Entries only lead forward, so no chain has a loop.
        var steps = 0
        while entry < end, steps < Self.mostEntries {
            guard let count: UInt16 = file.load(entry + 2), let library: UInt32 = file.load(entry + 4),
                let first: UInt32 = file.load(entry + 8), let next: UInt32 = file.load(entry + 12)
            else { break }
            let name = Self.text(file, names.offset, UInt64(library), names.size) ?? ""
            var part = entry + Int(first)
            for _ in 0..<Int(count) where part < end {
                steps += 1
                guard let version: UInt32 = file.load(part + 8), let following: UInt32 = file.load(part + 12) else { break }
                if let text = Self.text(file, names.offset, UInt64(version), names.size) { versions.append((name, text)) }
                guard following > 0, steps < Self.mostEntries else { break }
                part += Int(following)
            }
            guard next > 0 else { break }
            steps += 1
            entry += Int(next)
        }
        return versions
    }
}

/// Third-party code that is linked into a library, and imports or does more than the plugin's own code needs.
enum LinkedRuntime: String {
    case swift = "Swift's runtime"
    case go = "Go's runtime"
    case libcrypto = "OpenSSL's libcrypto"
}

extension ELFTables {
    /// The runtime of the plugin's language.
    var runtime: LinkedRuntime? {
        if sections.contains(where: { $0.name.hasPrefix("swift5_") }) { return .swift }
        return has(section: ".go.buildinfo") ? .go : nil
    }

    /// Whether the library contains libcrypto, which imports sockets, but not libssl, which uses them. Looks for the names of their
    /// source files, which are in their error data.
    var hasLibcryptoAlone: Bool {
        has("crypto/bio/bio_lib.c", inSection: ".rodata") && !has("ssl/ssl_lib.c", inSection: ".rodata")
    }

    /// The network and signal functions that libcrypto always imports.
    static var importsOfLibcrypto: Set<String> {
        [
            "getaddrinfo", "gethostbyname", "listen", "accept", "socket", "connect", "bind", "send", "sendto", "sendmsg",
            "sendmmsg",
            "recv", "recvfrom", "recvmsg", "recvmmsg", "sigaction", "signal",
        ]
    }
}
