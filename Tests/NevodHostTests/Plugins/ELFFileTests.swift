import Glibc
import NevodTestSupport
import Testing

@testable import NevodHost

struct ELFFileTests {
    private static let library = Result { try PluginLocator.standard.find("HMACAuth") }

    private func symbols(_ path: String) throws -> [String]? {
        try ELFFile(path: path).exportedSymbols(withPrefix: "nevod_plugin_v")
    }

    private func problem(_ path: String) -> String {
        do throws(ELFFile.Problem) {
            _ = try ELFFile(path: path)
            return "none"
        } catch {
            switch error {
            case .unreadable(let problem): return "unreadable: \(problem)"
            case .notALibrary(let problem): return problem
            }
        }
    }

    @Test func `The real plugin exports its one function, and nothing else`() throws {
        let path = try Self.library.get()
        #expect(try symbols(path) == ["nevod_plugin_v1"])
        let all = try ELFFile(path: path).exportedSymbols(withPrefix: "")
        #expect(all == ["nevod_plugin_v1"])
        #expect(try ELFFile(path: path).exportedSymbols(withPrefix: "nevod_plugin_v1x") == [])
    }

    @Test func `Each kind of file that is no library has its own error`() throws {
        let folder = try TemporaryFolder()
        let text = String(repeating: "This is a text, and long enough for a header. ", count: 3)
        #expect(problem(try folder.write("text", text.utf8)) == "it is not an ELF file")
        #expect(problem(try folder.write("empty", [])) == "it is too short for an ELF header")
        #expect(problem(try folder.write("short", [0x7F, 0x45, 0x4C, 0x46])) == "it is too short for an ELF header")
        #expect(problem(folder.path) == "it is not a regular file")
        #expect(problem("/dev/null") == "it is not a regular file")
        #expect(problem("\(folder.path)/missing").hasPrefix("unreadable: "))
    }

    /// Programs are usually position-independent, and then look like a shared object, but they export no plugin.
    @Test func `An executable is refused`() throws {
        #expect(try symbols("/bin/sh") ?? [] == [])
        let error = try #require(throws: PluginError.self) { try Plugin(named: "/bin/sh") }
        guard case .noEntryPoint = error.reason else {
            Issue.record("\(error)")
            return
        }
    }

    @Test(
        arguments: [
            (4, 1, "it is not 64-bit little-endian"), (5, 2, "it is not 64-bit little-endian"),
            (16, 2, "it is an object file or a program, not a shared object"), (18, 40, "it is built for another processor"),
        ] as [(Int, UInt8, String)])
    func `The header of the file determines the error`(offset: Int, value: UInt8, expected: String) throws {
        var bytes = try contents(of: Self.library.get())
        bytes[offset] = value
        let folder = try TemporaryFolder()
        #expect(problem(try folder.write("changed", bytes)) == expected)
    }

    @Test func `The error for another major version names both`() throws {
        var bytes = try contents(of: Self.library.get())
        let name = Array("nevod_plugin_v1\0".utf8)
        for index in bytes.indices.dropLast(name.count) where bytes[index] == name[0] && bytes[index...].starts(with: name) {
            bytes[index + 14] = UInt8(ascii: "7")
        }
        let folder = try TemporaryFolder()
        let path = try folder.write("libother.so", bytes)
        #expect(try symbols(path) == ["nevod_plugin_v7"])
        let error = try #require(throws: PluginError.self) { try Plugin(named: path) }
        #expect("\(error)".contains("was built for version 7 of the plugin contract, but this host serves version 1"))
    }

    /// The reader maps the file, so a wild offset would crash.
    @Test func `Damaged files are refused without a crash`() throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("ELFFileTests: seed \(seed)")
        var random = SplitMix(state: seed)
        let original = try contents(of: Self.library.get())
        let sections = original.withUnsafeBytes { Int($0.loadUnaligned(fromByteOffset: 40, as: UInt64.self)) }
        let folder = try TemporaryFolder()
        let path = try folder.write("damaged", original)
        let file = open(path, O_RDWR | O_CLOEXEC)
        defer { close(file) }
        var outcomes: [String: Int] = [:]
        func read() {
            let outcome = (try? symbols(path)).map { $0 == nil ? "no table" : "\($0?.count ?? 0) symbols" } ?? "refused"
            outcomes[outcome, default: 0] += 1
        }
        func put(_ byte: UInt8, at offset: Int) {
            var byte = byte
            pwrite(file, &byte, 1, offset)
        }
        for index in 0..<350 {
            // The file's header, or the table of sections.
            let range = index % 2 == 0 ? 16..<64 : sections..<original.count
            let offsets = (0...random.next(8)).map { _ in range.lowerBound + random.next(range.count) }
            for offset in offsets { put(random.next(2) == 0 ? 0xFF : UInt8(truncatingIfNeeded: random.next()), at: offset) }
            read()
            for offset in offsets { put(original[offset], at: offset) }
        }
        // In descending order, so that one file is enough.
        let lengths = (0..<150).map {
            $0 % 3 == 0 ? random.next(256) : $0 % 3 == 1 ? original.count - random.next(4096) : random.next(original.count)
        }
        for length in lengths.sorted(by: >) {
            ftruncate(file, length)
            read()
        }
        // The damage was real: some files were rejected, some had lost their table, and some could still be read.
        #expect(outcomes.count > 2, "seed \(seed): \(outcomes)")
    }
    @Test func `What the real plugin loads is read`() throws {
        let loading = try ELFFile(path: Self.library.get()).loading()
        #expect(loading.needed.contains("libc.so.6"))
        #expect(loading.needed.allSatisfy { $0.hasSuffix(".so") || $0.contains(".so.") })
        #expect(loading.runPaths.contains { $0.contains("$ORIGIN") })
        #expect(!loading.hasExecutableStack)
    }

    @Test func `A FIFO is refused without waiting for a writer`() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/libfifo.so"
        #expect(mkfifo(path, 0o600) == 0)
        #expect(problem(path) == "it is not a regular file")
    }

    /// The parts that decide what is loaded: the segment headers, the dynamic section, and the names.
    @Test func `What a damaged file would load is read or refused without a crash`() throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("ELFFileTests: seed \(seed)")
        var random = SplitMix(state: seed)
        let original = try contents(of: Self.library.get())
        func number<Number: FixedWidthInteger>(_ offset: Int, _: Number.Type) -> Int {
            original.withUnsafeBytes { Int(truncatingIfNeeded: $0.loadUnaligned(fromByteOffset: offset, as: Number.self)) }
        }
        let headers = number(32, UInt64.self)..<(number(32, UInt64.self) + 56 * number(56, UInt16.self))
        let dynamic = try #require(
            stride(from: headers.lowerBound, to: headers.upperBound, by: 56).first { number($0, UInt32.self) == 2 })
        let section = number(dynamic + 8, UInt64.self)..<(number(dynamic + 8, UInt64.self) + number(dynamic + 32, UInt64.self))
        let name = Array("libc.so.6\0".utf8)
        let names = try #require(original.indices.first { original[$0] == name[0] && original[$0...].starts(with: name) })
        let ranges = [32..<64, headers, dynamic..<dynamic + 56, section, names - 64..<names + 64]
        let folder = try TemporaryFolder()
        let path = try folder.write("damaged", original)
        let file = open(path, O_RDWR | O_CLOEXEC)
        defer { close(file) }
        var outcomes: [String: Int] = [:]
        for index in 0..<400 {
            let range = ranges[index % ranges.count]
            let offsets = (0...random.next(6)).map { _ in range.lowerBound + random.next(range.count) }
            for offset in offsets {
                var byte: UInt8 = random.next(3) == 0 ? 0xFF : UInt8(truncatingIfNeeded: random.next())
                pwrite(file, &byte, 1, offset)
            }
            let outcome = (try? ELFFile(path: path).loading()).map { "stack \($0.hasExecutableStack), names \($0.needed.count)" }
            outcomes[outcome ?? "refused", default: 0] += 1
            for offset in offsets {
                var byte = original[offset]
                pwrite(file, &byte, 1, offset)
            }
        }
        // The damage was real: some files were rejected, and some were read differently.
        #expect(outcomes.count > 2 && outcomes["refused"] != nil, "seed \(seed): \(outcomes)")
    }
}

struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func next(_ bound: Int) -> Int { Int(next() % UInt64(max(1, bound))) }
}
