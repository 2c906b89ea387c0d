internal import CSecretService
internal import Glibc
internal import NevodHost
internal import NevodSupport

/// libsecret, and what it stands on: loaded at first use, and never unloaded, since GLib's types can't be.
///
/// Each function is named as in its header.
final class SecretLibrary: @unchecked Sendable {  // Addresses of code, set once.
    let g_object_unref: nevod_release
    let g_error_free: nevod_error_free
    let g_list_free: nevod_list_free
    let g_hash_table_new: nevod_table_new
    let g_hash_table_insert: nevod_table_insert
    let g_hash_table_unref: nevod_release
    let g_str_hash: UnsafeRawPointer
    let g_str_equal: UnsafeRawPointer
    let g_cancellable_new: nevod_cancellable_new
    let g_cancellable_cancel: nevod_cancellable_cancel
    let g_dbus_proxy_get_connection: nevod_proxy_connection
    let g_dbus_connection_set_exit_on_close: nevod_connection_set_exit_on_close
    let g_dbus_error_quark: nevod_quark
    let secret_error_get_quark: nevod_quark
    let secret_service_get_type: nevod_service_type
    let secret_service_open_sync: nevod_service_open
    let secret_service_search_sync: nevod_service_search
    let secret_collection_for_alias_sync: nevod_collection_for_alias
    let secret_collection_get_locked: nevod_is_locked
    let secret_item_create_sync: nevod_item_create
    let secret_item_delete_sync: nevod_item_delete
    let secret_item_get_locked: nevod_is_locked
    let secret_item_get_secret: nevod_item_secret
    let secret_item_set_secret_sync: nevod_item_set_secret
    let secret_value_new: nevod_value_new
    let secret_value_get: nevod_value_get
    let secret_value_unref: nevod_release

    private static let name = "libsecret-1.so.0"
    private static let loaded = Locked<SecretLibrary?>(nil)

    /// - Throws: ``StorageError`` of code `unavailable` if it isn't installed.
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
        g_object_unref = try function("g_object_unref")
        g_error_free = try function("g_error_free")
        g_list_free = try function("g_list_free")
        g_hash_table_new = try function("g_hash_table_new")
        g_hash_table_insert = try function("g_hash_table_insert")
        g_hash_table_unref = try function("g_hash_table_unref")
        g_str_hash = UnsafeRawPointer(try symbol("g_str_hash"))
        g_str_equal = UnsafeRawPointer(try symbol("g_str_equal"))
        g_cancellable_new = try function("g_cancellable_new")
        g_cancellable_cancel = try function("g_cancellable_cancel")
        g_dbus_proxy_get_connection = try function("g_dbus_proxy_get_connection")
        g_dbus_connection_set_exit_on_close = try function("g_dbus_connection_set_exit_on_close")
        g_dbus_error_quark = try function("g_dbus_error_quark")
        secret_error_get_quark = try function("secret_error_get_quark")
        secret_service_get_type = try function("secret_service_get_type")
        secret_service_open_sync = try function("secret_service_open_sync")
        secret_service_search_sync = try function("secret_service_search_sync")
        secret_collection_for_alias_sync = try function("secret_collection_for_alias_sync")
        secret_collection_get_locked = try function("secret_collection_get_locked")
        secret_item_create_sync = try function("secret_item_create_sync")
        secret_item_delete_sync = try function("secret_item_delete_sync")
        secret_item_get_locked = try function("secret_item_get_locked")
        secret_item_get_secret = try function("secret_item_get_secret")
        secret_item_set_secret_sync = try function("secret_item_set_secret_sync")
        secret_value_new = try function("secret_value_new")
        secret_value_get = try function("secret_value_get")
        secret_value_unref = try function("secret_value_unref")
    }

    private static var lastError: String { dlerror().map { String(cString: $0) } ?? "no reason is given" }
}
