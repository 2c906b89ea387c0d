internal import CSecretService

/// One reference of ours to something that libsecret or GLib counts.
final class ServiceObject: Sendable {
    // Handed from thread to thread, and used by one at a time; what it points to outlives this.
    nonisolated(unsafe) let pointer: UnsafeMutableRawPointer
    // The address of a function.
    private nonisolated(unsafe) let release: nevod_release

    /// - Parameter pointer: this takes over the reference.
    init?(_ pointer: UnsafeMutableRawPointer?, _ release: @escaping nevod_release) {
        guard let pointer else { return nil }
        self.pointer = pointer
        self.release = release
    }

    deinit {
        release(pointer)
    }
}
