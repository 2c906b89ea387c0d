internal import CLinux
internal import Glibc
package import NevodHost

/// The child process's side.
package enum CheckChild {
    /// Whether the command line belongs to a child process.
    package static func isNamed(by words: [[UInt8]]) -> Bool { words == [Array(ChildProcess.word.utf8)] }

    /// Runs the job that the parent left in a file, and ends the process.
    ///
    /// - Parameters:
    ///   - exitStatus: the status if a plugin ends the process while it is loaded.
    ///   - inspect: returns the output of `inspect` for a plugin, as text or as JSON.
    package static func main(exitStatus: Int32, inspect: (Plugin, _ asJSON: Bool) -> String) -> Never {
        guard let (job, page) = takeJob() else { _exit(unusable) }
        limit()
        let reply: ChildReply
        switch job.check {
        case CheckJob.describe:
            reply = load(job.path, page, exitStatus) { plugin in
                .schemes(
                    plugin.schemes.map { scheme in
                        DescribedScheme(
                            id: scheme.id,
                            settings: scheme.settings.map { DescribedScheme.Setting(name: $0.name, isSecret: $0.isSecret) })
                    })
            }
        case CheckJob.inspectText, CheckJob.inspectJSON:
            reply = load(job.path, page, exitStatus) { .text(inspect($0, job.check == CheckJob.inspectJSON)) }
        default:
            if let check = CheckCatalogue.check(job.check) {
                reply = .result(run(check, CheckContext(job, page)))
            } else {
                reply = .refused("unknown check \(job.check)")
            }
        }
        send(reply)
        _exit(0)
    }

    /// The exit status of a process that wasn't started to run a check.
    private static let unusable: Int32 = 2
    private static let longestJob = 64 << 20

    private static func takeJob() -> (CheckJob, CallPage)? {
        let file = ChildProcess.jobDescriptor
        var info = stat()
        guard fstat(file, &info) == 0, info.st_mode & S_IFMT == S_IFREG, info.st_size >= CallPage.size,
            info.st_size <= longestJob, fcntl(ChildProcess.replyDescriptor, F_SETFD, FD_CLOEXEC) == 0
        else { return nil }
        defer { close(file) }
        let count = Int(info.st_size) - CallPage.size
        let text = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = max(0, pread(file, buffer.baseAddress, count, off_t(CallPage.size)))
        }
        guard let job = try? CheckJob(decoding: text), let page = CallPage(file: file) else { return nil }
        return (job, page)
    }

    private static func limit() {
        // Dies with the parent, by a signal that no handler can catch.
        _ = nevod_die_with_parent()
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        #if !NEVOD_ADDRESS_SANITIZER && !NEVOD_THREAD_SANITIZER
            var memory = rlimit(rlim_cur: 16 << 30, rlim_max: 16 << 30)
            setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &memory)
        #endif
    }

    private static func run(_ check: Check, _ context: CheckContext) -> CheckResult {
        do { return try check.run(context) } catch CheckStop.skip(let reason) {
            return .skip(reason)
        } catch CheckStop.needsSettings(let reason) {
            return .needsSettings(reason)
        } catch CheckStop.fail(let finding) {
            return .fail(finding)
        } catch let error as PluginError {
            return .skip("the host refuses the plugin: \(error)")
        } catch {
            return .skip("the check can't run: \(error)")
        }
    }

    private static func load(_ path: String, _ page: CallPage, _ exitStatus: Int32, _ reply: (Plugin) -> ChildReply) -> ChildReply
    {
        PluginCrashReport.install(program: "nevod-host", exitStatus: exitStatus, neverExits: true)
        var current: ContractFunction?
        do throws(PluginError) {
            let plugin = try Plugin(path: path) { stage in
                if let current { page.leave(current) }
                switch stage {
                case .constructors: current = .constructors
                case .entryPoint: current = .entryPoint
                case .tables: current = .tables
                case .finished: current = nil
                }
                if let current { page.enter(current) }
            }
            return reply(plugin)
        } catch { return .refused("\(error)") }
    }

    private static func send(_ reply: ChildReply) {
        let bytes = reply.encoded
        var sent = 0
        bytes.withUnsafeBytes { bytes in
            while sent < bytes.count {
                let count = write(ChildProcess.replyDescriptor, bytes.baseAddress.map { $0 + sent }, bytes.count - sent)
                if count < 0, errno == EINTR { continue }
                if count <= 0 { return }
                sent += count
            }
        }
    }
}
