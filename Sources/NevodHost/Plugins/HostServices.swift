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
