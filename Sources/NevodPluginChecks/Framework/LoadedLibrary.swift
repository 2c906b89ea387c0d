internal import Glibc
internal import NevodHost
internal import NevodPluginABI

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

    /// The tables of the schemes; empty unless the plugin's table is one of this contract.
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
