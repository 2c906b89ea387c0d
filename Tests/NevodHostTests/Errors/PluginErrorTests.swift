import NevodSupport
import Testing

@testable import NevodHost

struct PluginErrorTests {
    private func error(_ detail: Secret?) -> PluginError {
        PluginError(
            "libx.so",
            .failed(scheme: "x", function: "authorize", status: 3, subject: "", message: "denied", detail: detail))
    }

    @Test func `The detail is revealed by a call, and is no part of any text`() {
        let error = error(Secret("user ada"))
        #expect(error.revealDetail() == "user ada")
        for text in ["\(error)", "\(error.reason)", String(reflecting: error), "\(NetworkError.plugin(error))"] {
            #expect(!text.contains("ada"))
        }
        var dumped = ""
        dump(error, to: &dumped)
        #expect(!dumped.contains("ada"))
    }

    @Test func `A detail can't control a terminal`() {
        #expect(error(Secret(copying: [0x1B, 0x5B, 0x0A, 0xFF])).revealDetail() == "\\u{1b}[\\u{a}\u{FFFD}")
    }

    @Test func `Other errors have no detail`() {
        #expect(error(nil).revealDetail() == nil)
        #expect(PluginError("libx.so", .noEntryPoint).revealDetail() == nil)
    }
}
