internal import Glibc
internal import NevodHost
internal import NevodPluginABI
internal import NevodPluginTesting

/// The plugin, the settings and the random numbers of a check, in its own process.
///
/// Not shared among threads, except for ``during(_:_:)``.
final class CheckContext {
    /// The plugin's file.
    let path: String
    /// The id of the scheme to check; empty for a check of the file or the library.
    let schemeID: String
    let given: [GivenSetting]
    let seed: UInt64
    /// The seconds of `--fuzz`; 0 without it.
    let fuzzSeconds: Int
    /// The same in each run with the same seed.
    var random: CheckRandom
    let calls: CallMarks
    private var loaded: LoadedLibrary?

    init(_ job: CheckJob, _ page: CallPage) {
        path = job.path
        schemeID = job.scheme
        given = job.settings
        seed = job.seed
        fuzzSeconds = Int(job.fuzzSeconds)
        random = CheckRandom(seed: job.seed, check: job.check, scheme: job.scheme)
        calls = CallMarks(page: page)
    }

    /// Marks a call of the plugin, so that a crash or a hang in it is reported with the function's name. Any thread.
    func during<Result, Failure: Error>(_ function: ContractFunction, _ body: () throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        try calls.during(function, body)
    }

    /// Loads the plugin at the first call. Doesn't load a file that the host would refuse before running any of it.
    func library() throws -> LoadedLibrary {
        if let loaded { return loaded }
        let library = try LoadedLibrary(path: path, calls)
        loaded = library
        return library
    }

    func file() throws -> ELFFile {
        do throws(ELFFile.Problem) { return try ELFFile(path: path) } catch {
            throw CheckStop.skip("static.format explains it: \(error.text)")
        }
    }

    /// The table of the scheme that is checked.
    func scheme() throws -> UnsafePointer<nevod_scheme> {
        guard let table = try library().scheme(schemeID) else { throw CheckStop.skip("the plugin has no scheme \(schemeID)") }
        return table
    }
}

extension ELFFile.Problem {
    var text: String {
        switch self {
        case .unreadable(let reason): "it can't be read: \(reason)"
        case .notALibrary(let reason): reason
        }
    }
}

/// A plugin's library, loaded without the host's checks of its tables. Never unloaded.
struct LoadedLibrary {
    let handle: UnsafeMutableRawPointer
    let entryPoint: @convention(c) () -> UnsafePointer<nevod_plugin>?
    let table: UnsafePointer<nevod_plugin>

    init(path: String, _ calls: CallMarks) throws {
        do throws(PluginError) { try Plugin.checkBeforeLoading(path) } catch {
            throw CheckStop.skip("the host doesn't load this file: \(error.explanation)")
        }
        let opened = calls.during(.constructors) { dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) }
        guard let opened else {
            throw CheckStop.skip("load.resolves explains it: \(Self.loaderMessage)")
        }
        handle = opened
        guard let symbol = dlsym(handle, "nevod_plugin_v1") else { throw CheckStop.skip("the library has no nevod_plugin_v1") }
        typealias EntryPoint = @convention(c) () -> UnsafePointer<nevod_plugin>?
        entryPoint = unsafeBitCast(symbol, to: EntryPoint.self)
        let entryPoint = entryPoint
        guard let table = calls.during(.entryPoint, { entryPoint() }) else {
            throw CheckStop.skip("description.table explains it: nevod_plugin_v1 returned NULL")
        }
        self.table = table
    }

    static var loaderMessage: String { dlerror().map { String(cString: $0) } ?? "the loader gives no reason" }

    /// The tables of the schemes; empty unless the plugin's table belongs to this contract.
    var schemes: [UnsafePointer<nevod_scheme>] {
        let size = UnsafeRawPointer(table).load(as: UInt32.self)
        guard size >= NEVOD_PLUGIN_MINIMUM, table.pointee.abi_major == NEVOD_ABI_MAJOR,
            table.pointee.abi_draft == NEVOD_ABI_DRAFT,
            table.pointee.scheme_count <= UInt32(NEVOD_LIMIT_SCHEMES), let schemes = table.pointee.schemes
        else { return [] }
        return (0..<Int(table.pointee.scheme_count)).compactMap { schemes[$0] }.filter {
            UnsafeRawPointer($0).load(as: UInt32.self) >= NEVOD_SCHEME_MINIMUM
        }
    }

    func scheme(_ id: String) -> UnsafePointer<nevod_scheme>? {
        schemes.first { $0.pointee.id.text == id }
    }
}

extension nevod_bytes {
    /// Nil if the bytes are not UTF-8, or longer than any text of a table.
    var text: String? {
        guard count > 0 else { return "" }
        guard let data, count <= UInt64(NEVOD_LIMIT_TEXT) else { return nil }
        return String(validating: UnsafeBufferPointer(start: data, count: Int(count)), as: UTF8.self)
    }
}

/// A random number generator whose numbers depend only on the seed and the check, so that `--only ID --seed N` repeats a case.
struct CheckRandom: RandomNumberGenerator {
    private var generator: SplitMix64

    init(seed: UInt64, check: String, scheme: String?) {
        // FNV-1a. Checks of one run must not share their numbers.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in "\(check) \(scheme ?? "")".utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        generator = SplitMix64(seed: seed ^ hash)
    }

    mutating func next() -> UInt64 { generator.next() }

    mutating func bytes(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        while bytes.count < count {
            var number = next()
            for _ in 0..<min(8, count - bytes.count) {
                bytes.append(UInt8(truncatingIfNeeded: number))
                number >>= 8
            }
        }
        return bytes
    }
}
