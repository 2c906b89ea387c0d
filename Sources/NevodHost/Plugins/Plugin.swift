internal import NevodPluginABI

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A library of authentication schemes, loaded and checked against the contract. It stays loaded until the process ends, since
/// unloading a library that contains a Swift runtime crashes.
public struct Plugin: Sendable {
    /// The path it was loaded from; `built in` for a plugin linked into the program.
    public let path: String
    /// The name that the plugin gives itself, such as `HMACAuth`; its file may have another name.
    public let name: String
    /// The plugin's own version, in its vendor's spelling. The contract's version is checked separately.
    public let version: String
    /// The plugin's maker; empty if it doesn't name one.
    public let vendor: String
    /// The schemes, in the plugin's order; at least one, with distinct ids.
    public let schemes: [Scheme]
    /// The schemes that need a newer host. The others work without them.
    public let refusedSchemes: [RefusedScheme]

    /// Finds the library, checks that its file can be trusted, loads it and checks its tables.
    ///
    /// - Parameters:
    ///   - name: a path or a bare name; see ``PluginLocator``.
    ///   - locator: where a bare name is looked up.
    public init(named name: String, locator: PluginLocator = .standard) throws(PluginError) {
        try self.init(path: locator.find(name)) { _ in }
    }

    /// The stages of loading a plugin, in order.
    package enum LoadingStage: Sendable {
        case constructors, entryPoint, tables, finished
    }

    /// - Parameters:
    ///   - path: canonical.
    ///   - wrap: receives the plugin's `nevod_plugin`, whose version has been checked, and returns the table to use.
    ///   - stage: called when each stage begins, for a process that must know which stage did not return.
    package init(
        path: String, wrap: ((UnsafeRawPointer) -> UnsafeRawPointer)? = nil, stage: (LoadingStage) -> Void
    ) throws(PluginError) {
        try Self.checkBeforeLoading(path)
        stage(.constructors)
        let opened = PluginCall.run("its constructors", ofLibrary: path) { dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) }
        guard let library = opened else {
            throw PluginError(path, Self.reason(ofLoader: dlerror().map { String(cString: $0) } ?? "no reason given"))
        }
        guard let symbol = dlsym(library, "nevod_plugin_v1") else { throw PluginError(path, .noEntryPoint) }
        PluginCrashReport.add(path, containing: symbol)
        typealias EntryPoint = @convention(c) () -> UnsafePointer<nevod_plugin>?
        let entryPoint = unsafeBitCast(symbol, to: EntryPoint.self)
        stage(.entryPoint)
        guard let table = PluginCall.run("nevod_plugin_v1", ofLibrary: path, { entryPoint() }) else {
            throw PluginError(path, .nullPlugin)
        }
        stage(.tables)
        try self.init(table: table, path: path, wrap: wrap)
        stage(.finished)
    }

    /// Loads a plugin with another table in front of its own, for example one that records what crosses the contract.
    ///
    /// - Parameter wrap: receives the plugin's `nevod_plugin`, whose version has been checked, and returns the table to use.
    package init(named name: String, wrap: @escaping (UnsafeRawPointer) -> UnsafeRawPointer) throws(PluginError) {
        try self.init(path: PluginLocator.standard.find(name), wrap: wrap) { _ in }
    }

    /// Uses a plugin that is linked into the program itself.
    ///
    /// - Parameter table: the `nevod_plugin` that its entry point returns; valid until the process ends.
    public init(builtIn table: UnsafeRawPointer) throws(PluginError) {
        try self.init(table: table.assumingMemoryBound(to: nevod_plugin.self), path: "built in")
    }

    private init(
        table: UnsafePointer<nevod_plugin>, path: String, wrap: ((UnsafeRawPointer) -> UnsafeRawPointer)? = nil
    ) throws(PluginError) {
        // Counts as a call of the plugin: a wild pointer in a table crashes the reader, and is the plugin's fault.
        let parts = PluginCall.run("its tables", ofLibrary: path) { Parts.read(table, path, wrap) }
        let read = try parts.get()
        self.path = path
        name = read.name
        version = read.version
        vendor = read.vendor
        schemes = read.schemes
        refusedSchemes = read.refused
    }

    private struct Parts {
        let name: String
        let version: String
        let vendor: String
        let schemes: [Scheme]
        let refused: [RefusedScheme]

        static func read(
            _ table: UnsafePointer<nevod_plugin>, _ path: String, _ wrap: ((UnsafeRawPointer) -> UnsafeRawPointer)?
        ) -> Result<Parts, PluginError> {
            do throws(PluginError) {
                let reader = PluginTableReader(path: path)
                var plugin = try reader.plugin(table)
                if let wrap {
                    plugin = try reader.plugin(wrap(UnsafeRawPointer(table)).assumingMemoryBound(to: nevod_plugin.self))
                }
                let name = try reader.text(plugin.name, "nevod_plugin.name")
                let version = try reader.text(plugin.version, "nevod_plugin.version")
                let vendor = try reader.text(plugin.vendor, "nevod_plugin.vendor", mayBeEmpty: true)
                let (schemes, refused) = try reader.schemes(of: plugin, named: name)
                return .success(Parts(name: name, version: version, vendor: vendor, schemes: schemes, refused: refused))
            } catch { return .failure(error) }
        }
    }

    /// Returns the scheme with the given id, or without an id, the plugin's only scheme.
    public func scheme(_ id: String? = nil) throws(PluginError) -> Scheme {
        guard let id else {
            guard let only = schemes.first, schemes.count == 1 else {
                throw PluginError(path, .schemeNotChosen(offered: schemes.map(\.id)))
            }
            return only
        }
        if let refused = refusedSchemes.first(where: { $0.id == id }) { throw refused.reason }
        guard let scheme = schemes.first(where: { $0.id == id }) else {
            throw PluginError(path, .unknownScheme(id, offered: schemes.map(\.id)))
        }
        return scheme
    }

    /// Makes all checks that run no code of the library, or of another library that it would load.
    ///
    /// - Parameter path: canonical.
    package static func checkBeforeLoading(_ path: String) throws(PluginError) {
        if let (culprit, problem) = PathTrust.problem(of: path) {
            throw PluginError(path, .unsafePermissions(path: culprit, problem: problem))
        }
        try checkFile(path)
    }

    private static func checkFile(_ path: String) throws(PluginError) {
        #if canImport(Glibc)
            let exported: [String]?
            do throws(ELFFile.Problem) {
                let file = try ELFFile(path: path)
                exported = file.exportedSymbols(withPrefix: "nevod_plugin_v")
            } catch {
                throw PluginError(path, file: error)
            }
            guard let exported, !exported.contains("nevod_plugin_v1") else { return try LibraryTrust.check(path) }
            guard let other = exported.first else { throw PluginError(path, .noEntryPoint) }
            throw PluginError(
                path,
                .otherVersion(offered: "version \(other.dropFirst("nevod_plugin_v".count))", served: "version \(NEVOD_ABI_MAJOR)")
            )
        #endif
    }

    /// Recognizes glibc's message, since `dlerror` gives no code.
    private static func reason(ofLoader message: String) -> PluginError.Reason {
        if let found = message.range(ofASCII: "undefined symbol: ") {
            return .unresolvedSymbol(String(message[found.upperBound...].prefix { $0 != "," && $0 != " " }))
        }
        if message.range(ofASCII: "cannot open shared object file") != nil, let colon = message.firstIndex(of: ":") {
            return .missingLibrary(String(message[..<colon]))
        }
        return .loaderRefused(message)
    }
}

#if canImport(Glibc)
    extension PluginError {
        init(_ plugin: String, file problem: ELFFile.Problem) {
            switch problem {
            case .unreadable(let problem): self.init(plugin, .unreadable(problem))
            case .notALibrary(let problem): self.init(plugin, .notALibrary(problem))
            }
        }
    }
#endif

/// A scheme of a plugin that this host can't use, because it needs something that only a newer host has.
public struct RefusedScheme: Sendable {
    /// The scheme's id.
    public let id: String
    /// The reason, which names what the scheme needs.
    public let reason: PluginError
}
