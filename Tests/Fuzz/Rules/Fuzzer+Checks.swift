@testable import NevodPluginChecks

extension Fuzzer {
    /// The reply of a child process of `check`, or a forgery by a plugin.
    static let checkReply = Fuzzer("check-reply") { input in
        guard let reply = try? ChildReply(decoding: input.array) else { return }
        // Texts that are too long are cut on writing.
        guard input.bytes.count < 16 << 10 else { return }
        expect(reply.encoded == input.array, "a reply has one encoding")
    }

    /// What the child process reads.
    static let checkJob = Fuzzer("check-job") { input in
        guard let job = try? CheckJob(decoding: input.array) else { return }
        expect(job.encoded == input.array, "a job has one encoding")
    }
}
