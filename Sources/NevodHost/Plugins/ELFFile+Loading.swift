#if canImport(Glibc)
    extension ELFFile {
        /// The parts of a library that decide which other files the loader maps, and with which rights.
        package struct Loading {
            /// DT_NEEDED, and the libraries of filters (DT_FILTER, DT_AUXILIARY), which are loaded too.
            package var needed: [String] = []
            /// DT_RUNPATH: lists of folders, separated by colons, for the libraries that this one needs itself.
            package var runPaths: [String] = []
            /// DT_RPATH, which holds for all that these libraries need, too. Ignored if there is a DT_RUNPATH.
            package var searchPaths: [String] = []
            /// Whether loading it makes the stacks of all threads executable (PT_GNU_STACK); so does a file that doesn't say.
            package var hasExecutableStack = true
        }

        package func loading() throws(Problem) -> Loading {
            var loading = Loading()
            var dynamic: ProgramHeader?
            for header in programHeaders {
                // The loader takes the last of each, too.
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

        /// The loader reads the entries where they are mapped, and up to the first one with the tag DT_NULL.
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

        /// Returns a name of the dynamic string table.
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

        /// Returns the place in the file of what will be mapped at an address.
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
