internal import CSecretService
internal import Glibc
internal import NevodHost
internal import NevodSupport

/// libsecret, and what it stands on: loaded at first use, and never unloaded, since GLib's types can't be.
///
/// Each function has the name of its header, in Swift's spelling.
final class SecretLibrary: @unchecked Sendable {  // Addresses of code, set once.
    let gObjectUnref: nevod_release
    let gErrorFree: nevod_error_free
    let gListFree: nevod_list_free
    let gHashTableNew: nevod_table_new
    let gHashTableInsert: nevod_table_insert
    let gHashTableUnref: nevod_release
    let gStrHash: UnsafeRawPointer
    let gStrEqual: UnsafeRawPointer
    let gCancellableNew: nevod_cancellable_new
    let gCancellableCancel: nevod_cancellable_cancel
    let gDBusProxyGetConnection: nevod_proxy_connection
    let gDBusConnectionSetExitOnClose: nevod_connection_set_exit_on_close
    let gDBusErrorQuark: nevod_quark
    let secretErrorGetQuark: nevod_quark
    let secretServiceGetType: nevod_service_type
    let secretServiceOpenSync: nevod_service_open
    let secretServiceSearchSync: nevod_service_search
    let secretCollectionForAliasSync: nevod_collection_for_alias
    let secretCollectionGetLocked: nevod_is_locked
    let secretItemCreateSync: nevod_item_create
    let secretItemDeleteSync: nevod_item_delete
    let secretItemGetLocked: nevod_is_locked
    let secretItemGetSecret: nevod_item_secret
    let secretItemSetSecretSync: nevod_item_set_secret
    let secretValueNew: nevod_value_new
    let secretValueGet: nevod_value_get
    let secretValueUnref: nevod_release

    private static let name = "libsecret-1.so.0"
    private static let loaded = Locked<SecretLibrary?>(nil)

    /// - Throws: `StorageError` of code `unavailable` if it isn't installed.
    static func load() throws(StorageError) -> SecretLibrary {
        try loaded.withLock { library throws(StorageError) in
            if let library { return library }
            let new = try SecretLibrary()
            library = new
            return new
        }
    }

    private init() throws(StorageError) {
        guard let library = dlopen(Self.name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) else {
            throw StorageError(
                .unavailable, Self.name, problem: "can't be loaded: \(Self.lastError)", remedy: "apt install libsecret-1-0")
        }
        func symbol(_ name: String) throws(StorageError) -> UnsafeMutableRawPointer {
            guard let address = dlsym(library, name) else {
                throw StorageError(
                    .unavailable, Self.name, problem: "lacks \(name)", remedy: "install libsecret 0.18 or newer")
            }
            return address
        }
        func function<Function>(_ name: String) throws(StorageError) -> Function {
            unsafeBitCast(try symbol(name), to: Function.self)
        }
        gObjectUnref = try function("g_object_unref")
        gErrorFree = try function("g_error_free")
        gListFree = try function("g_list_free")
        gHashTableNew = try function("g_hash_table_new")
        gHashTableInsert = try function("g_hash_table_insert")
        gHashTableUnref = try function("g_hash_table_unref")
        gStrHash = UnsafeRawPointer(try symbol("g_str_hash"))
        gStrEqual = UnsafeRawPointer(try symbol("g_str_equal"))
        gCancellableNew = try function("g_cancellable_new")
        gCancellableCancel = try function("g_cancellable_cancel")
        gDBusProxyGetConnection = try function("g_dbus_proxy_get_connection")
        gDBusConnectionSetExitOnClose = try function("g_dbus_connection_set_exit_on_close")
        gDBusErrorQuark = try function("g_dbus_error_quark")
        secretErrorGetQuark = try function("secret_error_get_quark")
        secretServiceGetType = try function("secret_service_get_type")
        secretServiceOpenSync = try function("secret_service_open_sync")
        secretServiceSearchSync = try function("secret_service_search_sync")
        secretCollectionForAliasSync = try function("secret_collection_for_alias_sync")
        secretCollectionGetLocked = try function("secret_collection_get_locked")
        secretItemCreateSync = try function("secret_item_create_sync")
        secretItemDeleteSync = try function("secret_item_delete_sync")
        secretItemGetLocked = try function("secret_item_get_locked")
        secretItemGetSecret = try function("secret_item_get_secret")
        secretItemSetSecretSync = try function("secret_item_set_secret_sync")
        secretValueNew = try function("secret_value_new")
        secretValueGet = try function("secret_value_get")
        secretValueUnref = try function("secret_value_unref")
    }

    private static var lastError: String { dlerror().map { String(cString: $0) } ?? "no reason is given" }
}
