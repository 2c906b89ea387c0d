internal import CSecretService

/// A reference to a reference-counted object of libsecret or GLib.
final class ServiceObject: Sendable {
    // Passed between threads, and used by one at a time; the object outlives this reference.
    nonisolated(unsafe) let pointer: UnsafeMutableRawPointer
    // A C function pointer.
    private nonisolated(unsafe) let release: nevod_release

    /// - Parameter pointer: A reference that this object takes over.
    init?(_ pointer: UnsafeMutableRawPointer?, _ release: @escaping nevod_release) {
        guard let pointer else { return nil }
        self.pointer = pointer
        self.release = release
    }

    deinit {
        release(pointer)
    }
}
