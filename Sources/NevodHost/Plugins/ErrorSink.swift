internal import NevodPluginABI
internal import NevodSupport

/// Takes the reason that a plugin's function reports when it fails. Lives on the stack of that call.
struct ErrorSink {
    private(set) var subject = ""
    private(set) var message = ""
    private(set) var detail: Secret?
    private(set) var isReported = false

    /// The contract's table, whose `host` each call sets to its generation.
    static var table: nevod_errors {
        nevod_errors(
            struct_size: UInt32(MemoryLayout<nevod_errors>.size), reserved: 0, host: nil,
            report: { host, subject, message, detail in
                PluginCall.errors(host, "report")?.pointee.report(subject, message, detail)
            })
    }

    private mutating func report(_ subject: nevod_bytes, _ message: nevod_bytes, _ detail: nevod_bytes) {
        guard !isReported else { return }
        isReported = true
        self.subject = subject.message
        self.message = message.message
        if detail.count > 0 {
            self.detail = Secret(
                copying: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(detail.buffer).prefix(Int(NEVOD_LIMIT_DETAIL))))
        }
    }

    func error(_ status: Int32, in function: String, of scheme: Scheme) -> PluginError {
        PluginError(
            scheme.plugin,
            .failed(
                scheme: scheme.id, function: function, status: status, subject: subject, message: message, detail: detail))
    }
}
