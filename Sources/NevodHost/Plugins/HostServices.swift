internal import NevodPluginABI
internal import NevodSupport

/// The services offered to an instance: a log, and extensions by name. Lives from before `create` until after `destroy`.
final class HostServices: Sendable {
    let log: PluginLog
    private let secrets: SettingSecrets
    let scheme: CalledScheme
    /// Written in `init` and freed in `deinit`; the plugin only reads it.
    nonisolated(unsafe) let table: UnsafeMutablePointer<nevod_host>

    init(of scheme: CalledScheme, secrets: SettingSecrets = SettingSecrets([], of: []), log: @escaping PluginLog) {
        self.scheme = scheme
        self.secrets = secrets
        self.log = { level, line in log(level, secrets.redacted(line)) }
        table = .allocate(capacity: 1)
        table.initialize(
            to: nevod_host(
                struct_size: UInt32(MemoryLayout<nevod_host>.size), abi_minor: NEVOD_ABI_MINOR,
                host: Unmanaged.passUnretained(self).toOpaque(), name: nevod_bytes("NevodHost"),
                version: nevod_bytes(Version.literal),
                log: { host, level, message in
                    guard let host else { return }
                    let services = Unmanaged<HostServices>.fromOpaque(host).takeUnretainedValue()
                    services.log(
                        // An unknown level counts as the nearest known one.
                        min(max(level, Int32(NEVOD_LOG_DEBUG)), Int32(NEVOD_LOG_ERROR)), services.secrets.redacted(message))
                },
                get_extension: { _, name in
                    name.buffer.elementsEqual("nevod.public-suffix/1".utf8) ? UnsafeRawPointer(PublicSuffixTable.table) : nil
                }))
        scheme.serve(self)
        CallMonitor.install()
    }

    deinit {
        scheme.forget(ObjectIdentifier(self))
        table.deallocate()
    }
}

/// The extension `nevod.public-suffix/1`: gives plugins the host's own check for public suffixes.
enum PublicSuffixTable {
    // Written once, never freed: plugins use it as long as their instances live.
    nonisolated(unsafe) static let table: UnsafePointer<nevod_public_suffix> = {
        let table = UnsafeMutablePointer<nevod_public_suffix>.allocate(capacity: 1)
        table.initialize(
            to: nevod_public_suffix(
                struct_size: UInt32(MemoryLayout<nevod_public_suffix>.size), reserved: 0, host: nil,
                is_public: { _, domain in isPublic(domain) ? 1 : 0 }))
        return UnsafePointer(table)
    }()

    private static func isPublic(_ domain: nevod_bytes) -> Bool {
        // A host name has at most 253 bytes. A NUL would end it early in the C library that makes this check.
        guard (1...253).contains(domain.count), domain.data != nil,
            domain.buffer.allSatisfy({ URLHost.isNameByte($0) || $0 == UInt8(ascii: ":") })
        else {
            return true
        }
        return PublicSuffix.contains(String(decoding: domain.buffer, as: UTF8.self))
    }
}
