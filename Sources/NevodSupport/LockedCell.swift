#if (canImport(Glibc) || hasFeature(Embedded)) && !NEVOD_THREAD_SANITIZER
    internal import Builtin

    /// Memory for the value of a ``Locked``. It has no other owner and doesn't move while it is borrowed, so that a borrower may write it.
    @usableFromInline @frozen @_rawLayout(like: Value, movesAsLike)
    struct LockedCell<Value: ~Copyable>: ~Copyable {
        @inlinable
        init(_ value: consuming sending Value) {
            address.initialize(to: value)
        }

        @inlinable
        deinit {
            address.deinitialize(count: 1)
        }

        @inlinable
        var address: UnsafeMutablePointer<Value> { UnsafeMutablePointer(Builtin.addressOfRawLayout(self)) }

        /// Only for the holder of the lock.
        @inlinable
        borrowing func access<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            try body(&address.pointee)
        }
    }

    // Accessed only under the lock.
    extension LockedCell: @unchecked Sendable where Value: ~Copyable {}
#endif
