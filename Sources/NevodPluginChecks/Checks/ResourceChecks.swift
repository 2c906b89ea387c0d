internal import CLinux
internal import Glibc
internal import NevodPluginABI
internal import NevodPluginTesting

// Any leak ends a process that runs for weeks.

extension CheckCatalogue {
    static let resourceChecks: [Check] = allResourceChecks.map { check in
        switch check.id {
        case "resources.descriptors": check.caused(by: "time.authorize", "time.flow", "process.descriptors")
        case "resources.tokens": check.caused(by: "time.decode", "token.issued")
        case "resources.responses": check.caused(by: "time.authorize", "time.respond")
        // A thread's stack is a mapping.
        case "resources.mappings": check.caused(by: "time.authorize", "time.flow", "process.threads", "resources.threads")
        case "resources.threads": check.caused(by: "time.authorize", "time.flow", "process.threads")
        default: check.caused(by: "time.authorize", "time.flow")
        }
    }

    private static let allResourceChecks: [Check] = [
        .probing("resources.authorize", "10,000 calls of authorize leave memory as it was", patience: 3) { subject in
            let token = try subject.usableCredential()
            let view = try subject.view()
            subject.isNoting = false
            return memory(10_000, "call of authorize", "Free everything that the call allocated before it returns") {
                subject.free(subject.authorize(token, view))
            }
        },
        .probing("resources.tokens", "10,000 decoded tokens leave memory as it was", patience: 3) { subject in
            guard subject.instance.decodesTokens else { return .skip("the scheme decodes no tokens") }
            let bytes = try subject.issuedToken().bytes
            subject.isNoting = false
            return memory(10_000, "decoded token", "Free the token in token_free") { _ = subject.decode(bytes) }
        },
        .probing("resources.responses", "2,000 responses leave memory as it was", patience: 3) { subject in
            guard subject.instance.seesResponses else { return .skip("the scheme has no on_response") }
            let token = try subject.usableCredential()
            let view = try subject.view()
            let response = PlausibleServer.challenge()
            subject.isNoting = false
            return memory(2000, "response", "Free everything that the call allocated before it returns") {
                _ = subject.respond(token, view, response)
            }
        },
        .probing("resources.flows", "500 logins leave memory as it was", patience: 4) { subject in
            guard subject.instance.hasFlows else { return .skip("the scheme has no flows") }
            _ = try subject.issuedToken()
            let style = subject.serverStyle()
            subject.isNoting = false
            return memory(500, "login", "Free everything that the flow allocated in flow_free") {
                _ = FlowDriver(subject, Int(NEVOD_FLOW_LOGIN), PlausibleServer(style)).finished()
            }
        },
        counted(
            "resources.descriptors", "Descriptors are closed", "descriptors",
            "Close every descriptor that a call opens before it returns"
        ) {
            ProcessState.descriptors().count
        },
        counted("resources.threads", "Threads end", "threads", "Join the threads that the instance started in destroy") {
            ProcessState.threads().count
        },
        counted(
            "resources.mappings", "Mapped memory is unmapped", "mappings",
            "Unmap the mappings, in destroy at the latest"
        ) {
            mappings()
        },
    ]

    private static func memory(_ rounds: Int, _ what: String, _ fix: String, _ round: () -> Void) -> CheckResult {
        let resident = residentPages()
        let start = nevod_monotonic_nanoseconds()
        round()
        let rounds = Rounds.fitting(rounds, each: nevod_monotonic_nanoseconds() - start)
        let growth = Heap.growth(rounds: rounds, round)
        guard growth <= Heap.tolerance else {
            return .fail("Memory is the same after \(rounds) rounds", "\(growth) bytes remain of each \(what)", fix)
        }
        let pages = residentPages() - resident
        // Memory outside the heap. 16 MiB is far more than a heap's fluctuations.
        guard pages < 4096 else {
            return .fail(
                "Memory is the same after \(rounds) rounds", "The process has \(pages * 4) KiB more, which are not on its heap",
                fix)
        }
        return .pass
    }

    /// Counts before and after many instances that use everything.
    private static func counted(
        _ id: String, _ title: String, _ what: String, _ fix: String, _ count: @escaping @Sendable () -> Int
    ) -> Check {
        .probing(id, title, patience: 3) { subject in
            let view = try subject.view()
            subject.isNoting = false
            let style = subject.instance.hasFlows ? subject.serverStyle() : .json
            func round() throws {
                let other = try subject.another()
                do {
                    if subject.instance.hasFlows {
                        _ = FlowDriver(subject, Int(NEVOD_FLOW_LOGIN), PlausibleServer(style), on: other).finished()
                    }
                    let token = subject.credential(on: other)
                    subject.free(subject.authorize(token, view, on: other), on: other)
                }
                other.destroy()
            }
            let start = nevod_monotonic_nanoseconds()
            try round()
            let rounds = Rounds.fitting(200, each: nevod_monotonic_nanoseconds() - start)
            for _ in 0..<min(20, rounds) { try round() }
            let before = count()
            for _ in 0..<rounds { try round() }
            let growth = count() - before
            // A heap may take a mapping or two.
            guard growth >= rounds / 4 else { return .pass }
            return .fail("As many \(what) as before, after \(rounds) instances", "There are \(growth) more", fix)
        }
    }

    private static func residentPages() -> Int {
        let text = file("/proc/self/statm").split(separator: " ")
        return text.count > 1 ? Int(text[1]) ?? 0 : 0
    }

    private static func mappings() -> Int { file("/proc/self/maps").utf8.count { $0 == UInt8(ascii: "\n") } }

    private static func file(_ path: String) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count < 64 << 20, case let count = read(file, &piece, piece.count), count > 0 { bytes += piece.prefix(count) }
        return String(decoding: bytes, as: UTF8.self)
    }
}
