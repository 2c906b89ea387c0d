internal import CPluginCalls
internal import NevodSupport

/// Finds calls that are stuck in a plugin, from a thread of its own. If a stuck thread drives a loop of transfers, another thread
/// takes over the loop, so that the transfers of other requests go on. The stuck scheme moves to ``SchemeWorkers``.
///
/// While there are calls, the monitor's thread looks at them at short intervals. Otherwise it sleeps, so that an idle process has
/// no wake-ups. A call wakes it; apart from that, a call costs two atomic writes.
final class CallMonitor: @unchecked Sendable {  // `bell` guards all mutable state.
    /// In milliseconds.
    private static let interval: Int64 = 25
    /// The number of intervals without any call after which the monitor sleeps.
    private static let idleRounds = 40

    private static let shared = CallMonitor()

    private let bell = nevod_bell_make()
    private var hasThread = false

    private init() {
        nevod_call_set_watcher { CallMonitor.shared.wake() }
    }

    /// Makes calls wake the monitor from now on.
    static func install() {
        _ = shared
    }

    /// Called on the thread of a call, while the monitor sleeps.
    private func wake() {
        let mustStart = withLock {
            nevod_bell_ring(bell)
            defer { hasThread = true }
            return !hasThread
        }
        guard mustStart, !SystemThread.start({ self.watch() }) else { return }
        withLock { hasThread = false }
        // Without a thread, the next call tries again.
        nevod_call_watching(0)
    }

    private struct Sight {
        var generation: UInt64
        var since: ContinuousClock.Instant
    }

    private func watch() {
        var sights: [UnsafeMutablePointer<nevod_call_thread>: Sight] = [:]
        var quiet = 0
        while true {
            quiet = look(&sights) ? 0 : quiet + 1
            if quiet < Self.idleRounds {
                withLock { _ = nevod_bell_wait(bell, Self.interval) }
            } else {
                sleep()
                quiet = 0
            }
        }
    }

    /// Sleeps until a call wakes it.
    private func sleep() {
        nevod_call_watching(0)
        // A call that began just before may not have seen that the monitor stopped watching. By the end of an interval, the call
        // is visible here.
        withLock { _ = nevod_bell_wait(bell, Self.interval) }
        guard nevod_call_any_guarded() == 0 else { return nevod_call_watching(1) }
        withLock {
            while nevod_call_is_watched() == 0 { _ = nevod_bell_wait(bell, -1) }
        }
    }

    /// Looks at the calls in progress of all threads.
    ///
    /// - Returns: whether there are any.
    private func look(_ sights: inout [UnsafeMutablePointer<nevod_call_thread>: Sight]) -> Bool {
        var next = nevod_call_threads()
        let now = ContinuousClock.now
        var hasCalls = false
        while let thread = next {
            next = thread.pointee.next
            let generation = nevod_call_guarded(thread)
            guard generation != 0 else {
                sights[thread] = nil
                continue
            }
            hasCalls = true
            guard let sight = sights[thread], sight.generation == generation else {
                sights[thread] = Sight(generation: generation, since: now)
                continue
            }
            guard now - sight.since >= .nanoseconds(CalledScheme.longestCall) else { continue }
            release(thread, generation, after: now - sight.since)
        }
        return hasCalls
    }

    /// Frees what a stuck call holds up.
    private func release(_ thread: UnsafeMutablePointer<nevod_call_thread>, _ generation: UInt64, after time: Duration) {
        // From here on, the thread can't leave the call, so its loop and the call stay as they are.
        guard let call = nevod_call_take(thread, generation) else { return }
        let scheme = call.pointee.scheme.map { Unmanaged<CalledScheme>.fromOpaque($0).takeUnretainedValue() }
        let services = call.pointee.services.map { Unmanaged<HostServices>.fromOpaque($0).takeUnretainedValue() }
        let function = String(cString: call.pointee.function)
        // Must come first: the loop's next thread may call the scheme at once.
        scheme?.move(after: function, Int64(time.inSeconds * 1e9), hasReturned: false, services)
        let isTaken = thread.pointee.loop == nil || thread.pointee.take_over?(thread.pointee.loop) == 1
        // If the loop has no other thread yet, the next round tries again.
        nevod_call_taken(thread, generation, isTaken ? 1 : 0)
    }

    private func withLock<Result>(_ body: () -> Result) -> Result {
        nevod_bell_lock(bell)
        defer { nevod_bell_unlock(bell) }
        return body()
    }
}

/// A call of a plugin's function that has not returned, on any thread.
package struct CallInProgress: Hashable, Sendable {
    /// The path of the plugin's library.
    package let library: String
    /// The scheme's id; nil while the library is being loaded.
    package let scheme: String?
    package let function: String
    /// Tells calls of one function apart.
    private let generation: UInt64

    /// Returns the calls in progress now.
    package static var all: Set<CallInProgress> {
        var calls: Set<CallInProgress> = []
        var next = nevod_call_threads()
        while let thread = next {
            next = thread.pointee.next
            var names: UnsafePointer<nevod_call_names>?
            var function: UnsafePointer<CChar>?
            let generation = nevod_call_outermost(thread, &names, &function)
            guard generation != 0, let names, let function else { continue }
            calls.insert(
                CallInProgress(
                    library: String(cString: names.pointee.library), scheme: names.pointee.scheme.map { String(cString: $0) },
                    function: String(cString: function), generation: generation))
        }
        return calls
    }
}
