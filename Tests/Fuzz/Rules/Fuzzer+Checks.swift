@testable import NevodPluginChecks

extension Fuzzer {
    /// What a child process of `check` sends, or a plugin in its place.
    static let checkReply = Fuzzer("check-reply") { input in
        guard let reply = try? ChildReply(decoding: input.array) else { return }
        // Texts that are too long are cut when they are written.
        guard input.bytes.count < 16 << 10 else { return }
        expect(reply.encoded == input.array, "a reply has one encoding")
    }

    /// What it reads.
    static let checkJob = Fuzzer("check-job") { input in
        guard let job = try? CheckJob(decoding: input.array) else { return }
        expect(job.encoded == input.array, "a job has one encoding")
    }
}
