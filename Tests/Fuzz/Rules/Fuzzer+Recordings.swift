@testable import NevodPluginTesting

extension Fuzzer {
    /// A recording, as `replay` reads it.
    static let recording = Fuzzer("recording") { input in
        guard let recording = try? Recording(parsing: input.array) else { return }
        guard let again = try? Recording(parsing: recording.encoded) else {
            return expect(false, "a written recording is read again")
        }
        expect(again == recording, "a recording is read as it was written")
        for (index, call) in recording.calls.enumerated() {
            let differences = RecordingDifference.between(call, call.outcome, needs: call.needs, number: index + 1)
            expect(differences.isEmpty, "a call doesn't differ from itself")
        }
    }
}
