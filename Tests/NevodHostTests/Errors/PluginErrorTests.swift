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

    @Test func `The detail of a refused response is revealed too`() {
        let error = PluginError(
            "libx.so", .refusedResponse(scheme: "x", subject: "", message: "denied", detail: Secret("user ada")))
        #expect(error.revealDetail() == "user ada" && !"\(error)".contains("ada"))
    }

    @Test func `A detail can't control a terminal`() {
        #expect(error(Secret(copying: [0x1B, 0x5B, 0x0A, 0xFF])).revealDetail() == "\\u{1b}[\\u{a}\u{FFFD}")
    }

    @Test func `Only a login that was denied is a refused login`() {
        func error(_ call: FailedCall, _ status: PluginStatus) -> PluginError {
            PluginError("libx.so", failed: call, of: "x", status: status.rawValue, message: "no")
        }
        #expect(error(.flowStep("login"), .denied).isRefusedLogin)
        #expect(!error(.flowStep("login"), .unavailable).isRefusedLogin)
        #expect(!error(.flowStep("refresh"), .denied).isRefusedLogin)
        #expect(!error(.flowBegin("login"), .denied).isRefusedLogin)
        #expect(!error(.function("authorize"), .denied).isRefusedLogin)
        #expect(!PluginError("libx.so", .noEntryPoint).isRefusedLogin)
    }

    @Test func `Other errors have no detail`() {
        #expect(error(nil).revealDetail() == nil)
        #expect(PluginError("libx.so", .noEntryPoint).revealDetail() == nil)
    }
}
