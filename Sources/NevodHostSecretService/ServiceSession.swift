internal import CSecretService
internal import Glibc
internal import NevodStorage
internal import NevodSupport

/// One connection to the service, used synchronously. It never requests a prompt. If the service shows one anyway, the time limit
/// ends the call.
struct ServiceSession: Sendable {
    let library: SecretLibrary
    private let service: ServiceObject

    init(_ library: SecretLibrary, _ cancellable: ServiceObject) throws(SecretServiceError) {
        var error: UnsafeMutablePointer<nevod_gerror>?
        let opened = library.call.secret_service_open_sync(
            library.call.secret_service_get_type(), nil, Int32(NEVOD_OPEN_SESSION), cancellable.pointer, &error)
        guard let service = ServiceObject(opened, library.call.g_object_unref) else { throw SecretServiceError(error, library) }
        self.library = library
        self.service = service
        // Turned off, because by default GIO ends the process when the bus disconnects.
        if let connection = library.call.g_dbus_proxy_get_connection(service.pointer) {
            library.call.g_dbus_connection_set_exit_on_close(connection, 0)
        }
    }

    /// - Returns: nil if there is no item.
    func secret(of attributes: ServiceAttributes, _ cancellable: ServiceObject) throws(SecretServiceError) -> Secret? {
        let items = try search(attributes, cancellable, secrets: true)
        guard let item = items.first(where: { !isLocked($0) }) else {
            guard items.isEmpty else { throw .locked }
            try checkHidden(cancellable)
            return nil
        }
        guard let value = ServiceObject(library.call.secret_item_get_secret(item.pointer), library.call.secret_value_unref) else {
            throw .withoutSecret
        }
        var count = 0
        let bytes = library.call.secret_value_get(value.pointer, &count)
        return Secret(copying: UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : count))
    }

    func set(
        _ secret: Secret, _ attributes: ServiceAttributes, label: String, _ cancellable: ServiceObject
    ) throws(SecretServiceError) {
        let items = try search(attributes, cancellable, secrets: false)
        guard !items.contains(where: isLocked) else { throw .locked }
        let value = secret.withUnsafeBytes {
            library.call.secret_value_new($0.bindMemory(to: CChar.self).baseAddress, $0.count, "text/plain")
        }
        guard let value = ServiceObject(value, library.call.secret_value_unref) else { throw SecretServiceError(nil, library) }
        var error: UnsafeMutablePointer<nevod_gerror>?
        guard let item = items.first else { return try create(value, attributes, label, cancellable) }
        guard library.call.secret_item_set_secret_sync(item.pointer, value.pointer, cancellable.pointer, &error) != 0 else {
            throw SecretServiceError(error, library)
        }
        // Removes copies in other keyrings, because a later search might find one of them first.
        try delete(items.dropFirst(), cancellable)
    }

    func remove(_ attributes: ServiceAttributes, _ cancellable: ServiceObject) throws(SecretServiceError) {
        let items = try search(attributes, cancellable, secrets: false)
        guard !items.contains(where: isLocked) else { throw .locked }
        if items.isEmpty { try checkHidden(cancellable) }
        try delete(items[...], cancellable)
    }

    // MARK: Parts

    /// - Returns: nil if there is no default keyring.
    func defaultCollection(_ cancellable: ServiceObject) throws(SecretServiceError) -> ServiceObject? {
        var error: UnsafeMutablePointer<nevod_gerror>?
        let collection = library.call.secret_collection_for_alias_sync(
            service.pointer, "default", 0, cancellable.pointer, &error)
        guard error == nil else { throw SecretServiceError(error, library) }
        return ServiceObject(collection, library.call.g_object_unref)
    }

    private func search(
        _ attributes: ServiceAttributes, _ cancellable: ServiceObject, secrets: Bool
    ) throws(SecretServiceError) -> [ServiceObject] {
        let flags = NEVOD_SEARCH_ALL | (secrets ? NEVOD_SEARCH_LOAD_SECRETS : 0)
        var error: UnsafeMutablePointer<nevod_gerror>?
        let found = attributes.withTable(library) { table in
            library.call.secret_service_search_sync(service.pointer, nil, table, Int32(flags), cancellable.pointer, &error)
        }
        guard error == nil else { throw SecretServiceError(error, library) }
        defer { library.call.g_list_free(found) }
        var items: [ServiceObject] = []
        var node = found
        while let current = node {
            if let item = ServiceObject(current.pointee.data, library.call.g_object_unref) { items.append(item) }
            node = current.pointee.next
        }
        return items
    }

    private func create(
        _ value: ServiceObject, _ attributes: ServiceAttributes, _ label: String, _ cancellable: ServiceObject
    ) throws(SecretServiceError) {
        guard let collection = try defaultCollection(cancellable) else { throw .noCollection }
        guard library.call.secret_collection_get_locked(collection.pointer) == 0 else { throw .locked }
        var error: UnsafeMutablePointer<nevod_gerror>?
        let item = attributes.withTable(library) { table in
            library.call.secret_item_create_sync(
                collection.pointer, nil, table, label, value.pointer, Int32(NEVOD_CREATE_REPLACE),
                cancellable.pointer, &error)
        }
        guard ServiceObject(item, library.call.g_object_unref) != nil else { throw SecretServiceError(error, library) }
    }

    private func delete(_ items: ArraySlice<ServiceObject>, _ cancellable: ServiceObject) throws(SecretServiceError) {
        for item in items {
            var error: UnsafeMutablePointer<nevod_gerror>?
            guard library.call.secret_item_delete_sync(item.pointer, cancellable.pointer, &error) != 0 else {
                throw SecretServiceError(error, library)
            }
        }
    }
}

/// The attributes that identify an item. Every program of the session can read them.
struct ServiceAttributes: Sendable {
    private let pairs: [(name: String, value: String)]

    /// - Parameter schema: The kind of item, which is the attribute `xdg:schema`; nil for items of any kind.
    /// - Throws: an error for a text with a NUL, which would truncate it.
    init(schema: String?, _ pairs: [(name: String, value: String)]) throws(StorageError) {
        for pair in pairs where pair.value.utf8.contains(0) {
            throw StorageError(.other, pair.value, problem: "holds a NUL, which no keyring allows in a name")
        }
        self.pairs = (schema.map { [("xdg:schema", $0)] } ?? []) + pairs
    }

    func withTable<Result>(
        _ library: SecretLibrary, _ body: (UnsafeMutableRawPointer?) -> Result
    ) -> Result {
        let texts = pairs.map { (strdup($0.name), strdup($0.value)) }
        let table = library.call.g_hash_table_new(library.call.g_str_hash, library.call.g_str_equal)
        defer {
            if let table { library.call.g_hash_table_unref(table) }
            for (name, value) in texts {
                free(name)
                free(value)
            }
        }
        for (name, value) in texts { _ = library.call.g_hash_table_insert(table, name, value) }
        return body(table)
    }
}

/// A reference to a reference-counted object of libsecret or GLib.
final class ServiceObject: Sendable {
    // Passed between threads, but used by only one at a time. The object outlives this reference.
    nonisolated(unsafe) let pointer: UnsafeMutableRawPointer
    // A C function pointer.
    private nonisolated(unsafe) let release: nevod_release

    /// - Parameter pointer: A reference that this object takes ownership of.
    init?(_ pointer: UnsafeMutableRawPointer?, _ release: @escaping nevod_release) {
        guard let pointer else { return nil }
        self.pointer = pointer
        self.release = release
    }

    deinit {
        release(pointer)
    }
}

/// libsecret and GLib.
final class SecretLibrary: Sendable {
    let call: nevod_secret

    init() throws(StorageError) {
        call = try SystemLibrary("libsecret-1.so.0", package: "libsecret-1-0", version: "0.18").load(
            nevod_secret(), nevod_secret_find)
    }
}
