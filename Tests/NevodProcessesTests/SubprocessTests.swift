import Glibc
import NevodProcesses
import Testing

@Suite(.timeLimit(.minutes(1))) struct SubprocessTests {
    @Test func `A child has the descriptors that it is given, and no others`() throws {
        var leaks: [Int32] = [-1, -1]
        let connected = socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &leaks)
        try #require(connected == 0)
        leaks.append(fcntl(leaks[0], F_DUPFD, 500))
        defer { for leak in leaks { close(leak) } }
        for leak in leaks { try #require((3..<1000).contains(leak) && fcntl(leak, F_GETFD) == 0) }
        // Tests each number separately, because a program that lists the folder opens a descriptor for it.
        let list = "n=0; while [ $n -lt 1000 ]; do [ -e /proc/self/fd/$n ] && echo $n; n=$((n + 1)); done"
        let plain = try shell(list)
        #expect(text(of: plain).split(separator: "\n") == ["0", "1", "2"])
        let given = try shell(list, extra: [.pipe, .copy(leaks[2])])
        #expect(text(of: given).split(separator: "\n") == ["0", "1", "2", "3", "4"])
    }

    @Test func `Pipes and copies are at the numbers that were asked for`() throws {
        var ends: [Int32] = [-1, -1]
        let connected = pipe(&ends)
        try #require(connected == 0)
        defer { for end in ends { close(end) } }
        #expect(write(ends[1], "copy\n", 5) == 5)
        let child = try Subprocess(
            "/bin/sh", ["sh", "-c", "cat; echo error >&2; echo extra >&3; read line <&4; echo $line"], input: .pipe,
            output: .pipe, errors: .standardOutput, extra: [.pipe, .copy(ends[0])])
        #expect(write(child.pipe(STDIN_FILENO), "input\n", 6) == 6)
        child.closePipe(STDIN_FILENO)
        #expect(child.pipe(STDIN_FILENO) == -1 && child.pipe(STDERR_FILENO) == -1)
        #expect(text(of: child) == "input\nerror\ncopy\n")
        #expect(text(of: child, 3) == "extra\n")
        #expect(child.wait() == .exit(0))
    }

    @Test func `A child has the given variables alone`() throws {
        let child = try Subprocess("/usr/bin/env", ["env"], environment: .only(["A=1", "B="]), input: .null, output: .pipe)
        #expect(text(of: child) == "A=1\nB=\n")
    }

    @Test func `A child inherits all variables by default`() throws {
        let path = try #require(Subprocess.Environment.entries.first { $0.hasPrefix("PATH=") })
        let child = try Subprocess("/usr/bin/env", ["env"], input: .null, output: .pipe)
        #expect(text(of: child).split(separator: "\n").contains { $0 == path })
    }

    @Test(.serialized, arguments: [Subprocess.Group.shared, .own, .session])
    func `A child neither blocks nor ignores the signals that we block and ignore`(group: Subprocess.Group) throws {
        var blocked = sigset_t()
        var before = sigset_t()
        sigemptyset(&blocked)
        sigaddset(&blocked, SIGUSR1)
        pthread_sigmask(SIG_BLOCK, &blocked, &before)
        let handler = signal(SIGPIPE, SIG_IGN)
        defer {
            signal(SIGPIPE, handler)
            pthread_sigmask(SIG_SETMASK, &before, nil)
        }
        let child = try Subprocess("/bin/cat", ["cat", "/proc/self/status"], input: .null, output: .pipe, group: group)
        var masks: [Substring: UInt64] = [:]
        for line in text(of: child).split(separator: "\n") where line.hasPrefix("Sig") {
            let words = line.split { $0 == ":" || $0 == "\t" }
            masks[words[0]] = words.last.flatMap { UInt64($0, radix: 16) }
        }
        #expect(masks["SigBlk"] == 0)
        #expect(masks["SigIgn"].map { $0 & 1 << UInt64(SIGPIPE - 1) } == 0)
    }

    @Test(
        arguments: [
            ("exit 0", .exit(0), "ended with the exit status 0"), ("exit 3", .exit(3), "ended with the exit status 3"),
            ("kill -TERM $$", .signal(SIGTERM), "was ended by the signal 15 (Terminated)"),
        ] as [(String, Subprocess.Ending, String)])
    func `An ending is an exit status or a signal`(script: String, ending: Subprocess.Ending, text: String) throws {
        let child = try shell(script)
        #expect(child.wait() == ending)
        #expect(child.ending == ending)
        #expect(ending.description == text)
    }

    @Test func `Several threads can wait for one child`() async throws {
        let child = try Subprocess("/bin/cat", ["cat"], input: .pipe, output: .null)
        await withTaskGroup(of: Subprocess.Ending.self) { group in
            for _ in 0..<3 { group.addTask { child.wait() } }
            child.closePipe(STDIN_FILENO)
            for await ending in group { #expect(ending == .exit(0)) }
        }
    }

    @Test(arguments: [("/nonexistent/program", ENOENT), ("/etc/passwd", EACCES), ("/", EACCES)])
    func `A program that doesn't exist or isn't executable isn't started`(program: String, number: Int32) {
        #expect(throws: Subprocess.StartError.program(number)) {
            try Subprocess(program, [program], input: .pipe, output: .pipe)
        }
    }

    @Test func `A child that ignores SIGTERM is killed at the end of the grace period`() throws {
        let child = try shell("trap '' TERM; echo ready; while :; do sleep 1; done")
        #expect(read(from: child) == Array("ready\n".utf8))
        #expect(child.wait(until: .now) == nil)
        #expect(child.stop(grace: .milliseconds(50)) == .signal(SIGKILL))
    }

    @Test func `A child that obeys SIGTERM isn't killed`() throws {
        let child = try shell("trap 'exit 7' TERM; echo ready; while :; do sleep 0.01; done")
        #expect(read(from: child) == Array("ready\n".utf8))
        #expect(child.stop(grace: .seconds(60)) == .exit(7))
    }

    @Test func `A signal to a group of its own reaches the child's children`() throws {
        let child = try shell("trap '' TERM; sleep 90 & echo ready; wait", group: .own)
        #expect(read(from: child) == Array("ready\n".utf8))
        #expect(child.stop(grace: .zero) == .signal(SIGKILL))
        // The pipe ends when its last writer does.
        #expect(text(of: child) == "")
    }

    @Test func `The rest of a group of its own is killed at the child's end`() throws {
        let child = try shell("sleep 90 & echo ready", group: .own)
        #expect(child.wait() == .exit(0))
        #expect(text(of: child) == "ready\n")
    }

    // MARK: Support

    private func shell(
        _ script: String, extra: [Subprocess.Stream] = [], group: Subprocess.Group = .shared
    ) throws -> Subprocess {
        try Subprocess("/bin/sh", ["sh", "-c", script], input: .null, output: .pipe, extra: extra, group: group)
    }

    /// Waits for the next bytes from one of the child's descriptors. Returns no bytes at the end.
    private func read(from child: Subprocess, _ number: Int32 = STDOUT_FILENO) -> [UInt8] {
        var ready = pollfd(fd: child.pipe(number), events: Int16(POLLIN), revents: 0)
        while poll(&ready, 1, -1) < 0, errno == EINTR {}
        return [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
            count = max(0, Glibc.read(ready.fd, buffer.baseAddress, buffer.count))
        }
    }

    /// Reads one of the child's descriptors to the end, and waits for the child: a zombie would keep the tests' own library from
    /// seeing the end of other children.
    private func text(of child: Subprocess, _ number: Int32 = STDOUT_FILENO) -> String {
        var bytes: [UInt8] = []
        while case let piece = read(from: child, number), !piece.isEmpty { bytes += piece }
        child.wait()
        return String(decoding: bytes, as: UTF8.self)
    }
}
