internal import Glibc
internal import NevodHost
internal import NevodPluginABI

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
    /// Repeatable by the seed.
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

    /// Loads the plugin at the first call. A file that the host would refuse before it runs a line of it isn't loaded.
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
