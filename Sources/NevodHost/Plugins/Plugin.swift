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
        try self.init(path: locator.find(name))
    }

    /// Takes a plugin that is linked into the program itself.
    ///
    /// - Parameter table: the `nevod_plugin` that its entry point returns; valid until the process ends.
    public init(builtIn table: UnsafeRawPointer) throws(PluginError) {
        try self.init(table: table.assumingMemoryBound(to: nevod_plugin.self), path: "built in")
    }

    private init(path: String) throws(PluginError) {
        if let (culprit, problem) = PathTrust.problem(of: path) {
            throw PluginError(path, .unsafePermissions(path: culprit, problem: problem))
        }
        try Self.checkFile(path)
        let opened = PluginCall.run("its constructors", ofLibrary: path) { dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) }
        guard let library = opened else {
            throw PluginError(path, Self.reason(ofLoader: dlerror().map { String(cString: $0) } ?? "no reason given"))
        }
        guard let symbol = dlsym(library, "nevod_plugin_v1") else { throw PluginError(path, .noEntryPoint) }
        PluginCrashReport.add(path, containing: symbol)
        typealias EntryPoint = @convention(c) () -> UnsafePointer<nevod_plugin>?
        let entryPoint = unsafeBitCast(symbol, to: EntryPoint.self)
        guard let table = PluginCall.run("nevod_plugin_v1", ofLibrary: path, { entryPoint() }) else {
            throw PluginError(path, .nullPlugin)
        }
        try self.init(table: table, path: path)
    }

    private init(table: UnsafePointer<nevod_plugin>, path: String) throws(PluginError) {
        let reader = PluginTableReader(path: path)
        let plugin = try reader.plugin(table)
        self.path = path
        name = try reader.text(plugin.name, "nevod_plugin.name")
        version = try reader.text(plugin.version, "nevod_plugin.version")
        vendor = try reader.text(plugin.vendor, "nevod_plugin.vendor", mayBeEmpty: true)
        (schemes, refusedSchemes) = try reader.schemes(of: plugin, named: name)
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

    /// Checks all that can be known without running code of the library, or of another that it would load.
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
