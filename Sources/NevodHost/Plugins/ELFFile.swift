#if canImport(Glibc)
    internal import Glibc

    /// Reads the exported names of an ELF library, and the names of the files that the loader would load with it (System V ABI,
    /// chapters 4 and 5). Doesn't load the library, so that none of its code runs before a refusal. Trusts no offset in the file.
    package struct ELFFile: ~Copyable {
        package enum Problem: Error {
            case unreadable(String)
            case notALibrary(String)
        }

        package let bytes: UnsafeRawBufferPointer

        package init(path: String) throws(Problem) {
            bytes = try Self.mapped(path)
        }

        deinit {
            munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count)
        }

        /// Returns the names of the defined symbols in the dynamic symbol table that begin with `prefix`; nil if the file has no
        /// section headers. They are needed here to find the table; the dynamic loader works without them.
        package func exportedSymbols(withPrefix prefix: String) -> [String]? {
            guard let symbols = section(ofType: Self.dynamicSymbols), symbols.entrySize == 24,
                let names = section(at: symbols.link)
            else { return nil }
            var found: [String] = []
            for index in 0..<symbols.size / 24 {
                let entry = symbols.offset + index * 24
                guard let name: UInt32 = load(entry), let binding: UInt8 = load(entry + 4), binding >> 4 != Self.localBinding,
                    let sectionIndex: UInt16 = load(entry + 6), sectionIndex != 0,
                    Int(name) < names.size
                else { continue }
                let text = string(names.offset + Int(name), before: names.offset + names.size, startingWith: prefix)
                if let text { found.append(text) }
            }
            return found
        }

        private static let headerSize = 64
        /// SHT_DYNSYM.
        private static let dynamicSymbols: UInt32 = 11
        /// STB_LOCAL.
        private static let localBinding: UInt8 = 0

        private static func mapped(_ path: String) throws(Problem) -> UnsafeRawBufferPointer {
            // Without O_NONBLOCK, opening a FIFO would wait for a writer.
            let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
            guard file >= 0 else { throw .unreadable(String(cString: strerror(errno))) }
            defer { close(file) }
            var info = stat()
            guard fstat(file, &info) == 0 else { throw .unreadable(String(cString: strerror(errno))) }
            guard info.st_mode & S_IFMT == S_IFREG else { throw .notALibrary("it is not a regular file") }
            guard info.st_size >= headerSize else { throw .notALibrary("it is too short for an ELF header") }
            guard let start = mmap(nil, Int(info.st_size), PROT_READ, MAP_PRIVATE, file, 0), start != MAP_FAILED else {
                throw .unreadable(String(cString: strerror(errno)))
            }
            let bytes = UnsafeRawBufferPointer(start: start, count: Int(info.st_size))
            if let problem = headerProblem(of: bytes) {
                munmap(start, bytes.count)
                throw .notALibrary(problem)
            }
            return bytes
        }

        private static func headerProblem(of bytes: UnsafeRawBufferPointer) -> String? {
            guard bytes.starts(with: [0x7F, UInt8(ascii: "E"), UInt8(ascii: "L"), UInt8(ascii: "F")]) else {
                return "it is not an ELF file"
            }
            guard bytes[4] == 2, bytes[5] == 1 else { return "it is not 64-bit little-endian" }
            guard bytes.loadUnaligned(fromByteOffset: 16, as: UInt16.self) == 3 else {
                return "it is an object file or a program, not a shared object"
            }
            #if arch(x86_64)
                let machine: UInt16 = 62
            #elseif arch(arm64)
                let machine: UInt16 = 183
            #endif
            guard bytes.loadUnaligned(fromByteOffset: 18, as: UInt16.self) == machine else {
                return "it is built for another processor"
            }
            return isComplete(bytes) ? nil : "it is truncated"
        }

        /// Whether the file contains every segment that the loader will map: touching a truncated one kills the process.
        private static func isComplete(_ bytes: UnsafeRawBufferPointer) -> Bool {
            let table = bytes.loadUnaligned(fromByteOffset: 32, as: UInt64.self)
            let entrySize = UInt64(bytes.loadUnaligned(fromByteOffset: 54, as: UInt16.self))
            let count = UInt64(bytes.loadUnaligned(fromByteOffset: 56, as: UInt16.self))
            let size = UInt64(bytes.count)
            guard entrySize == 56, table <= size, count * entrySize <= size - table else { return false }
            for index in 0..<count {
                let entry = Int(table + index * entrySize)
                let offset = bytes.loadUnaligned(fromByteOffset: entry + 8, as: UInt64.self)
                let length = bytes.loadUnaligned(fromByteOffset: entry + 32, as: UInt64.self)
                guard offset <= size, length <= size - offset else { return false }
            }
            return true
        }

        private struct Section {
            let offset: Int
            let size: Int
            let link: Int
            let entrySize: Int
        }

        private func section(ofType wanted: UInt32) -> Section? {
            guard let count: UInt16 = load(60) else { return nil }
            for index in 0..<Int(count) {
                guard let header = sectionHeader(index), let type: UInt32 = load(header + 4) else { return nil }
                if type == wanted { return section(at: index) }
            }
            return nil
        }

        private func section(at index: Int) -> Section? {
            guard let header = sectionHeader(index),
                let offset: UInt64 = load(header + 24), let size: UInt64 = load(header + 32),
                let link: UInt32 = load(header + 40), let entrySize: UInt64 = load(header + 56),
                offset <= bytes.count, size <= UInt64(bytes.count) - offset, entrySize <= 64
            else { return nil }
            return Section(offset: Int(offset), size: Int(size), link: Int(link), entrySize: Int(entrySize))
        }

        private func sectionHeader(_ index: Int) -> Int? {
            guard let table: UInt64 = load(40), let entrySize: UInt16 = load(58), entrySize >= 64, table > 0,
                table <= bytes.count
            else { return nil }
            return Int(table) + index * Int(entrySize)
        }

        package func load<Value: FixedWidthInteger>(_ offset: Int) -> Value? {
            guard offset >= 0, offset <= bytes.count - MemoryLayout<Value>.size else { return nil }
            return bytes.loadUnaligned(fromByteOffset: offset, as: Value.self)
        }

        private func string(_ start: Int, before end: Int, startingWith prefix: String) -> String? {
            guard start < end else { return nil }
            let rest = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
            guard rest.starts(with: prefix.utf8) else { return nil }
            return String(decoding: rest.prefix(256).prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    extension ELFFile {
        /// The parts of a library that decide which other files the loader maps, and with which rights.
        package struct Loading {
            /// DT_NEEDED, and the libraries of filters (DT_FILTER, DT_AUXILIARY), which are loaded too.
            package var needed: [String] = []
            /// DT_RUNPATH: lists of folders, separated by colons, for the libraries that this one needs itself.
            package var runPaths: [String] = []
            /// DT_RPATH: the same, but applies to the libraries that those libraries need too. Ignored if there is a DT_RUNPATH.
            package var searchPaths: [String] = []
            /// Whether loading it makes the stacks of all threads executable (PT_GNU_STACK). True if the file doesn't say.
            package var hasExecutableStack = true
        }

        package func loading() throws(Problem) -> Loading {
            var loading = Loading()
            var dynamic: ProgramHeader?
            for header in programHeaders {
                // Takes the last header of each type, as the loader does.
                if header.type == Self.stackSegment { loading.hasExecutableStack = header.flags & Self.executable != 0 }
                if header.type == Self.dynamicSegment { dynamic = header }
            }
            guard let dynamic, let start = offset(ofAddress: dynamic.address) else {
                throw .notALibrary("it has no dynamic section")
            }
            let entries = try entries(from: start)
            for tag in [Self.needed, Self.filter, Self.auxiliary] {
                for entry in entries where entry.tag == tag { loading.needed.append(try string(entry.value, entries)) }
            }
            for entry in entries where entry.tag == Self.runPath { loading.runPaths.append(try string(entry.value, entries)) }
            for entry in entries where entry.tag == Self.searchPath {
                loading.searchPaths.append(try string(entry.value, entries))
            }
            return loading
        }

        private struct ProgramHeader {
            let type: UInt32
            let flags: UInt32
            let offset: UInt64
            let address: UInt64
            let size: UInt64
        }

        private typealias Entry = (tag: UInt64, value: UInt64)

        private var programHeaders: [ProgramHeader] {
            guard let table: UInt64 = load(32), table <= bytes.count, let count: UInt16 = load(56) else { return [] }
            return (0..<Int(count)).compactMap { index in
                let entry = Int(table) + index * 56
                guard let type: UInt32 = load(entry), let flags: UInt32 = load(entry + 4), let offset: UInt64 = load(entry + 8),
                    let address: UInt64 = load(entry + 16), let size: UInt64 = load(entry + 32)
                else { return nil }
                return ProgramHeader(type: type, flags: flags, offset: offset, address: address, size: size)
            }
        }

        /// Like the loader, reads the entries where they are mapped, up to the first one with the tag DT_NULL.
        private func entries(from start: Int) throws(Problem) -> [Entry] {
            var entries: [Entry] = []
            while entries.count < Self.mostEntries {
                let entry = start + entries.count * 16
                guard let tag: UInt64 = load(entry), let value: UInt64 = load(entry + 8) else { break }
                if tag == 0 { return entries }
                entries.append((tag, value))
            }
            throw .notALibrary("its dynamic section has no end")
        }

        /// Returns a name from the dynamic string table.
        private func string(_ index: UInt64, _ entries: [Entry]) throws(Problem) -> String {
            guard let table = entries.last(where: { $0.tag == Self.stringTable })?.value, index <= UInt64.max - table,
                let start = offset(ofAddress: table + index)
            else { throw .notALibrary("a name in its dynamic section is outside of the file") }
            let name = bytes[start...].prefix(Self.longestName + 1).prefix { $0 != 0 }
            guard name.count <= Self.longestName, name.endIndex < bytes.endIndex,
                let text = String(validating: name, as: UTF8.self)
            else { throw .notALibrary("a name in its dynamic section is too long, or not UTF-8") }
            return text
        }

        /// Returns the offset in the file of the byte that will be mapped at an address.
        private func offset(ofAddress address: UInt64) -> Int? {
            let segment = programHeaders.last {
                $0.type == Self.loadedSegment && address >= $0.address && address - $0.address < $0.size
            }
            // The segment is within the file, by the check of its header.
            guard let segment, segment.offset <= bytes.count, address - segment.address < UInt64(bytes.count) - segment.offset
            else { return nil }
            return Int(segment.offset + (address - segment.address))
        }

        private static let mostEntries = 100_000
        private static let longestName = 4096
        /// PT_LOAD, PT_DYNAMIC, PT_GNU_STACK; PF_X.
        private static let loadedSegment: UInt32 = 1
        private static let dynamicSegment: UInt32 = 2
        private static let stackSegment: UInt32 = 0x6474_E551
        private static let executable: UInt32 = 1
        /// DT_NEEDED, DT_STRTAB, DT_RPATH, DT_RUNPATH, DT_AUXILIARY, DT_FILTER.
        private static let needed: UInt64 = 1
        private static let stringTable: UInt64 = 5
        private static let searchPath: UInt64 = 15
        private static let runPath: UInt64 = 29
        private static let auxiliary: UInt64 = 0x7FFF_FFFD
        private static let filter: UInt64 = 0x7FFF_FFFF
    }
#endif
