internal import CLinux
internal import Glibc
internal import NevodProcesses

/// A process of this program that runs one job, with its pipes and its page. It leads its own process group, which is killed with
/// it.
final class ChildProcess {
    /// The hidden word of the command line.
    static let word = "__check"
    /// The descriptors that a child finds.
    static let replyDescriptor: Int32 = 3
    static let jobDescriptor: Int32 = 4

    struct SpawnError: Error {
        let description: String
    }

    /// The reading ends of pipes; -1 once they are closed.
    var replyPipe: Int32 { process.pipe(Self.replyDescriptor) }
    var outputPipe: Int32 { process.pipe(STDOUT_FILENO) }
    private(set) var reply: [UInt8] = []
    /// The last bytes of standard output and standard error.
    private(set) var output: [UInt8] = []
    let page: CallPage
    let started = nevod_monotonic_nanoseconds()
    private let process: Subprocess
    private static let longestOutput = 4096

    init(_ job: CheckJob) throws(SpawnError) {
        let file = nevod_memory_file("job")
        guard file >= 0 else { throw Self.problem("a file in memory can't be created") }
        defer { close(file) }
        let text = job.encoded
        guard ftruncate(file, off_t(CallPage.size)) == 0,
            text.withUnsafeBytes({ pwrite(file, $0.baseAddress, $0.count, off_t(CallPage.size)) }) == text.count,
            let page = CallPage(file: file)
        else { throw Self.problem("a job can't be stored") }
        do throws(Subprocess.StartError) {
            process = try Subprocess(
                "/proc/self/exe", ["nevod-host", Self.word], input: .null, output: .pipe, errors: .standardOutput,
                extra: [.pipe, .copy(file)], group: .own)
        } catch {
            page.unmap()
            switch error {
            case .pipe: throw SpawnError(description: "a pipe can't be created: \(error.reason)")
            case .program: throw SpawnError(description: "a process can't be started: \(error.reason)")
            }
        }
        self.page = page
    }

    deinit { page.unmap() }

    private static func problem(_ what: String) -> SpawnError {
        SpawnError(description: "\(what): \(String(cString: strerror(errno)))")
    }

    /// Reads what has arrived in the pipes, without waiting.
    func readPipes() {
        drain(Self.replyDescriptor) { reply.append(contentsOf: $0.prefix(max(0, ChildReply.longest - reply.count))) }
        drain(STDOUT_FILENO) { piece in
            output.append(contentsOf: piece)
            if output.count > 2 * Self.longestOutput { output.removeFirst(output.count - Self.longestOutput) }
        }
    }

    private func drain(_ number: Int32, _ take: (UnsafeRawBufferPointer) -> Void) {
        let pipe = process.pipe(number)
        guard pipe >= 0 else { return }
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { buffer in
            // Bounded, so that a plugin that writes endlessly can't keep the parent from its other children.
            for _ in 0..<64 {
                let count = read(pipe, buffer.baseAddress, buffer.count)
                if count > 0 {
                    take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                    continue
                }
                if count < 0, errno == EINTR { continue }
                if count < 0, errno == EAGAIN { return }
                process.closePipe(number)
                return
            }
        }
    }

    /// Kills the process with its group.
    func kill() { process.send(SIGKILL) }

    /// Returns how the process ended, and kills the rest of its group; nil while it runs.
    func reap() -> Subprocess.Ending? {
        guard let ending = process.ending else { return nil }
        readPipes()
        return ending
    }
}
