internal import _Concurrency

#if hasFeature(Embedded)
    internal import CEmbeddedRuntime
#else
    internal import NevodSupport
#endif

#if hasFeature(Embedded)
    /// Runs a flow's function on the thread that calls ``drain()``, because a plugin has no thread of its own.
    ///
    /// Embedded Swift's concurrency runtime keeps its current task in a plain global variable, so only one thread at a time may
    /// start, resume, run or cancel a task. One lock for the whole plugin ensures this. One queue holds the jobs of the running
    /// flow.
    final class FlowQueue {
        /// Waits until no other thread runs a flow of this plugin. The same thread may enter again.
        static func enter() { nevod_flows_enter() }
        static func leave() { nevod_flows_leave() }

        /// Releases a ``FlowRun`` without waiting: now, or if another thread runs a flow, on that thread when it leaves.
        static func free(_ flow: UnsafeMutableRawPointer, of instance: UnsafeMutableRawPointer?) {
            nevod_flows_free(flow, instance) { flow in
                guard let flow else { return }
                Unmanaged<FlowRun>.fromOpaque(flow).release()
            }
        }

        /// Waits until the freed flows of an instance are released.
        static func settle(_ instance: UnsafeMutableRawPointer) { nevod_flows_settle(instance) }

        func start(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
            Task.detached { await body() }
        }

        /// Runs jobs until none is left.
        func drain() { nevod_flows_drain() }
        /// Runs jobs until none is left. A function that is resumed later runs during the next step of any flow.
        func drainAndClose() { nevod_flows_drain() }
    }
#else
    /// Runs a flow's function on the thread that calls ``drain()``, because a plugin has no thread of its own.
    final class FlowQueue: TaskExecutor {
        /// In ordinary Swift, flows need not wait for each other.
        static func enter() {}
        static func leave() {}
        static func free(_ flow: UnsafeMutableRawPointer, of instance: UnsafeMutableRawPointer?) {
            Unmanaged<FlowRun>.fromOpaque(flow).release()
        }
        static func settle(_ instance: UnsafeMutableRawPointer) {}

        private struct Jobs {
            var waiting: [UnownedJob] = []
            var isClosed = false
        }

        private let jobs = Locked(Jobs())

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            let isClosed = jobs.withLock { jobs in
                if !jobs.isClosed { jobs.waiting.append(job) }
                return jobs.isClosed
            }
            // Something outside resumed a cancelled function. The queue is no longer drained, so the function finishes on the
            // global executor.
            if isClosed { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
        }

        /// Detached, because a host in Swift calls from its own task, and a flow must not inherit that task's locals and priority.
        func start(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
            Task.detached(executorPreference: self) { await body() }
        }

        /// Runs jobs until none is left.
        func drain() {
            while let job = next(closing: false) { job.runSynchronously(on: asUnownedTaskExecutor()) }
        }

        /// Runs jobs until none is left, and closes the queue.
        func drainAndClose() {
            while let job = next(closing: true) { job.runSynchronously(on: asUnownedTaskExecutor()) }
        }

        private func next(closing: Bool) -> UnownedJob? {
            jobs.withLock { jobs in
                guard jobs.waiting.isEmpty else { return jobs.waiting.removeFirst() }
                jobs.isClosed = jobs.isClosed || closing
                return nil
            }
        }
    }
#endif
