internal import Glibc

/// The places where the system's loader looks for libraries: its cache (ld.so.cache, in the format of glibc 2.2 and later) and the
/// folders that it always searches.
struct LoaderCache {
    private var names: Set<String> = []

    private static let path = "/etc/ld.so.cache"
    private static let mark = Array("glibc-ld.so.cache1.1".utf8)
    private static let folders: [String] = {
        #if arch(x86_64)
            let triple = "x86_64-linux-gnu"
        #else
            let triple = "aarch64-linux-gnu"
        #endif
        return ["/lib/\(triple)", "/usr/lib/\(triple)", "/lib64", "/usr/lib64", "/lib", "/usr/lib"]
    }()

    init() {
        guard let bytes = Self.read() else { return }
        // On older systems, the old format comes first.
        guard let start = Self.place(of: Self.mark, in: bytes) else { return }
        let number = { (offset: Int) -> Int? in
            guard offset >= 0, offset + 4 <= bytes.count else { return nil }
            return (0..<4).reduce(0) { $0 | Int(bytes[offset + $1]) << ($1 * 8) }
        }
        guard let count = number(start + 20) else { return }
        for index in 0..<min(count, 1_000_000) {
            guard let key = number(start + 48 + index * 24 + 4), start + key < bytes.count else { break }
            let name = bytes[(start + key)...].prefix(4096).prefix { $0 != 0 }
            names.insert(String(decoding: name, as: UTF8.self))
        }
    }

    /// - Parameters:
    ///   - library: a name without a slash.
    ///   - searched: folders that are searched first.
    func has(_ library: String, in searched: [String]) -> Bool {
        names.contains(library)
            || (searched + Self.folders).contains { access("\($0)/\(library)", F_OK) == 0 }
    }

    private static func place(of mark: [UInt8], in bytes: [UInt8]) -> Int? {
        guard bytes.count >= mark.count else { return nil }
        return (0...(bytes.count - mark.count)).first { bytes[$0] == mark[0] && bytes[$0..<$0 + mark.count].elementsEqual(mark) }
    }

    private static func read() -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var info = stat()
        guard fstat(file, &info) == 0, info.st_size > 0, info.st_size < 64 << 20 else { return nil }
        let count = Int(info.st_size)
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = max(0, Glibc.read(file, buffer.baseAddress, count))
        }
    }
}
