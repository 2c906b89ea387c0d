internal import NevodPluginABI

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A library of authentication schemes, loaded and checked against the contract. It stays loaded as long as the process
/// lives: unloading a library with a Swift runtime crashes.
public struct Plugin: Sendable {
    /// Where it was loaded from; `built in` for one that is linked into the program.
    public let path: String
    /// As the plugin calls itself, `HMACAuth` for one; the file may have another name.
    public let name: String
    /// Of the plugin, in its vendor's own spelling; the contract's version is checked apart.
    public let version: String
    /// Who made it; empty if it doesn't say.
    public let vendor: String
    /// At least one, in the plugin's order, with distinct ids.
    public let schemes: [Scheme]

    /// Finds, checks, loads and negotiates.
    ///
    /// - Parameters:
    ///   - name: a path or a bare name; see ``PluginLocator``.
    ///   - locator: where a bare name is looked up.
    public init(named name: String, locator: PluginLocator = .standard) throws(PluginError) {
        try self.init(path: locator.find(name))
    }

    /// A plugin that is linked into the program itself.
    ///
    /// - Parameter table: the `nevod_plugin` that its entry point returns; lives as long as the process.
    public init(builtIn table: UnsafeRawPointer) throws(PluginError) {
        try self.init(table: table.assumingMemoryBound(to: nevod_plugin.self), path: "built in")
    }

    private init(path: String) throws(PluginError) {
        if let (culprit, problem) = PathTrust.problem(of: path) {
            throw PluginError(path, .unsafePermissions(path: culprit, problem: problem))
        }
        try Self.checkExports(path)
        guard let library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) else {
            throw PluginError(path, Self.reason(ofLoader: dlerror().map { String(cString: $0) } ?? "no reason given"))
        }
        guard let symbol = dlsym(library, "nevod_plugin_v1") else { throw PluginError(path, .noEntryPoint) }
        typealias EntryPoint = @convention(c) () -> UnsafePointer<nevod_plugin>?
        guard let table = unsafeBitCast(symbol, to: EntryPoint.self)() else { throw PluginError(path, .nullPlugin) }
        try self.init(table: table, path: path)
    }

    private init(table: UnsafePointer<nevod_plugin>, path: String) throws(PluginError) {
        let reader = PluginTableReader(path: path)
        try reader.checkVersion(table)
        self.path = path
        name = try reader.text(table.pointee.name, "nevod_plugin.name")
        version = try reader.text(table.pointee.version, "nevod_plugin.version")
        vendor = try reader.text(table.pointee.vendor, "nevod_plugin.vendor", mayBeEmpty: true)
        schemes = try reader.schemes(of: table, named: name)
    }

    /// The scheme of that id; without one, the only scheme there is.
    public func scheme(_ id: String? = nil) throws(PluginError) -> Scheme {
        guard let id else {
            guard let only = schemes.first, schemes.count == 1 else {
                throw PluginError(path, .schemeNotChosen(offered: schemes.map(\.id)))
            }
            return only
        }
        guard let scheme = schemes.first(where: { $0.id == id }) else {
            throw PluginError(path, .unknownScheme(id, offered: schemes.map(\.id)))
        }
        return scheme
    }

    private static func checkExports(_ path: String) throws(PluginError) {
        #if canImport(Glibc)
            let exported: [String]?
            do throws(ELFFile.Problem) {
                let file = try ELFFile(path: path)
                exported = file.exportedSymbols(withPrefix: "nevod_plugin_v")
            } catch {
                switch error {
                case .unreadable(let problem): throw PluginError(path, .unreadable(problem))
                case .notALibrary(let problem): throw PluginError(path, .notALibrary(problem))
                }
            }
            guard let exported, !exported.contains("nevod_plugin_v1") else { return }
            guard let other = exported.first else { throw PluginError(path, .noEntryPoint) }
            throw PluginError(
                path,
                .otherVersion(offered: "version \(other.dropFirst("nevod_plugin_v".count))", served: "version \(NEVOD_ABI_MAJOR)")
            )
        #endif
    }

    /// glibc says in words what went wrong.
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
