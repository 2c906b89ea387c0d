#if !hasFeature(Embedded)
    #if canImport(Glibc)
        internal import Glibc
    #elseif canImport(Musl)
        internal import Musl
    #elseif canImport(Darwin)
        internal import Darwin
    #endif

    /// System threads for blocking calls. Swift's own pool has one thread for each core; if they block, every task stalls.
    package enum SystemThread {
        /// Runs `body` on a new, detached thread.
        ///
        /// - Returns: false if the system can't create a thread.
        @discardableResult
        package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
            let work = Unmanaged.passRetained(Work(body))
            #if canImport(Darwin)
                var thread: pthread_t?
            #else
                var thread = pthread_t()
            #endif
            let status = pthread_create(
                &thread, nil,
                { work in
                    // The parameter is optional on some systems.
                    let work: UnsafeMutableRawPointer? = work
                    if let work { Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body() }
                    return nil
                }, work.toOpaque())
            guard status == 0 else {
                work.release()
                return false
            }
            #if canImport(Darwin)
                if let thread { pthread_detach(thread) }
            #else
                pthread_detach(thread)
            #endif
            return true
        }

        private final class Work: Sendable {
            let body: @Sendable () -> Void

            init(_ body: @escaping @Sendable () -> Void) {
                self.body = body
            }
        }
    }
#endif
