import Glibc
import NevodTestSupport
import Testing

@testable import NevodPluginTesting

@Suite struct ContractHostTests {
    private func host(_ library: String, _ options: ContractHost.Options = .init()) throws -> ContractHost {
        let handle = try #require(dlopen(library, RTLD_NOW))
        typealias EntryPoint = @convention(c) () -> UnsafePointer<nevod_plugin>
        let entry = unsafeBitCast(try #require(dlsym(handle, "nevod_plugin_v1")), to: EntryPoint.self)
        return ContractHost(try #require(ContractHost.schemes(of: entry()).first), options)
    }

    private func edits(_ options: ContractHost.Options = .init()) throws -> ContractInstance {
        let (instance, outcome) = try host(TestLibrary.edits.get(), options).create([ContractPair("mode", "x")])
        #expect(outcome.result == NEVOD_OK)
        return try #require(instance)
    }

    private func view(_ target: String) throws -> ContractView {
        let request = try #require(ContractRequest("GET", "https://a.test\(target)", body: .bytes(Array("body".utf8))))
        var needs = ContractNeeds()
        needs.flags = .max
        return request.view(for: needs, at: 1, random: [UInt8](repeating: 1, count: 32))
    }

    @Test(arguments: [GuardedMemory(edge: .end), GuardedMemory(edge: .start)])
    func loginBetweenGuardPages(memory: GuardedMemory) throws {
        var options = ContractHost.Options()
        options.memory = memory
        options.pointerOfEmpty = 1
        let (created, _) = try host(TestLibrary.session.get(), options).create([ContractPair("server", "http://a.test")])
        let instance = try #require(created)
        let (begun, _) = instance.begin(NEVOD_FLOW_LOGIN)
        let flow = try #require(begun)
        let asked = flow.step(.start())
        guard case .ask(let questions)? = asked.calls.first else { throw Command.Failure(description: "\(asked)") }
        #expect(questions.map(\.name) == [Array("user".utf8), Array("password".utf8)])
        let sent = flow.step(.answers([ContractPair("user", "ann"), ContractPair("password", "p")]))
        guard case .send(let request?)? = sent.calls.first else { throw Command.Failure(description: "\(sent)") }
        #expect(request.url == Array("http://a.test/login".utf8))
        #expect(request.body == Array("user=ann&password=p".utf8))
        #expect(request.headers == [ContractPair("Content-Type", "application/x-www-form-urlencoded")])
        let kept = flow.step(.response(ContractResponse(200, body: Array("s1\nr1\n".utf8))))
        #expect(kept.calls == [.keep(ContractToken(Array("s1\nr1\n".utf8)))])
        guard case .send(let details?)? = flow.step(ContractEvent(NEVOD_EVENT_KEPT)).calls.first else {
            throw Command.Failure(description: "no request for the details")
        }
        #expect(details.headers == [ContractPair("X-Session", "s1")])
        let done = flow.step(.response(ContractResponse(200, body: Array(#"{"user": "ann"}"#.utf8))))
        guard case .token(let issued?)? = done.calls.first else { throw Command.Failure(description: "\(done)") }
        #expect(issued.bytes == Array("s1\nr1\n".utf8) && issued.account == Array("ann".utf8))
        let (decoded, _) = instance.decode(Array("s1\nr1\n".utf8))
        let outcome = instance.authorize(.decoded(try #require(decoded)), try view("/"))
        #expect(outcome.calls == [.setHeader(name: Array("X-Session".utf8), value: Array("s1".utf8))])
        #expect(instance.decode([]).1.result == NEVOD_BAD_TOKEN)
        #expect(instance.begin(NEVOD_FLOW_CHALLENGE).1.result == NEVOD_UNSUPPORTED)
    }

    @Test func guardPagesCanNeitherBeReadNorWritten() throws {
        var pipes: [Int32] = [0, 0]
        try #require(pipe(&pipes) == 0)
        defer { for end in pipes { close(end) } }
        for (edge, size) in [(GuardedMemory.Edge.end, 24), (.start, 24), (.end, 3), (.end, 5000)] {
            let memory = GuardedMemory(edge: edge)
            let block = memory.allocate(byteCount: size, alignment: size == 24 ? 8 : 1)
            defer { memory.free(block) }
            let base = try #require(block.baseAddress)
            // The kernel reads beyond the memory, and reports whether it may. A plugin would get SIGSEGV.
            let outside = edge == .end ? base + size : base - 1
            #expect(write(pipes[1], outside, 1) == -1 && errno == EFAULT)
            #expect(write(pipes[1], base, 1) == 1)
            memory.seal(block)
            #expect(read(pipes[0], base, 1) == -1 && errno == EFAULT)
            var byte: UInt8 = 0
            #expect(read(pipes[0], &byte, 1) == 1)
        }
    }

    @Test func sizesOfStructs() throws {
        var options = ContractHost.Options()
        for kind in ContractStruct.allCases where kind != .publicSuffix { options.shapes[kind] = .grown(kind) }
        options.memory = GuardedMemory()
        let grown = try edits(options).authorize(.none, try view("/grown"))
        #expect(grown.calls == [.log(level: 2, message: Array("grown".utf8))])
        #expect(try edits().authorize(.none, try view("/grown")).calls == [.log(level: 2, message: Array("known".utf8))])
        // A Swift plugin rejects a struct that is too short. This plugin in C reads all of it, so it gets one that it doesn't
        // inspect.
        #expect(StructShape.shortened(.view).size == 184)
    }

    @Test func resultsOfSinks() throws {
        let instance = try edits()
        instance.host.replaceResults { call, index in call.hasStatus && index == 2 ? Int32(NEVOD_UNSUPPORTED) : nil }
        let outcome = instance.authorize(.none, try view("/stop"))
        #expect(outcome.sinks.map(\.result) == [0, 0, Int32(NEVOD_UNSUPPORTED), 0])
        #expect(outcome.result == NEVOD_UNSUPPORTED)
        let report = try #require(outcome.report)
        #expect(report.subject == Array("X-A".utf8) && report.detail == Array("the detail".utf8))
    }

    @Test func keptSinks() throws {
        let instance = try edits()
        _ = instance.authorize(.none, try view("/keep"))
        #expect(instance.host.keptSinkCalls.isEmpty)
        let outcome = instance.authorize(.none, try view("/use"))
        #expect(outcome.calls.isEmpty)
        #expect(instance.host.keptSinkCalls == [KeptSinkCall(function: "set_header", of: "authorize")])
    }

    @Test func unreadableArguments() throws {
        let outcome = try edits().authorize(.none, try view("/null"))
        #expect(outcome.calls == [.setHeader(name: Array("X-Null".utf8), value: [])])
        #expect(outcome.faults == ["a header's value has a length of 5 bytes, but its pointer is NULL"])
    }

    @Test func eightThreadsAtOnce() async throws {
        let instance = try edits()
        let stop = try view("/stop")
        instance.host.replaceResults { call, index in call.hasStatus && index == 50 ? Int32(NEVOD_UNSUPPORTED) : nil }
        try await withThrowingTaskGroup(of: [Int].self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try await onOwnThread { (0..<100).map { _ in instance.authorize(.none, stop).calls.count } }
                }
            }
            for try await counts in group { #expect(counts == [Int](repeating: 52, count: 100)) }
        }
        #expect(instance.host.keptSinkCalls.isEmpty)
    }

    @Test(arguments: [
        ("https://a.test", "a.test", "/"), ("HTTPS://A.test:443/x?y=1#z", "a.test", "/x?y=1"),
        ("http://[::1]:8080?q", "[::1]:8080", "/?q"),
    ])
    func urls(url: String, authority: String, target: String) throws {
        let request = try #require(ContractRequest("GET", url))
        #expect(request.authority == authority && request.target == target)
        #expect(ContractRequest("GET", "/relative") == nil && ContractRequest("GET", "ftp://a.test/") == nil)
    }
}
