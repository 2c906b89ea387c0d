import NevodTestSupport
import Testing

@testable import nevod_host

@Suite struct ManPageTests {
    @Test("Every flag, command and exit code is listed")
    func complete() {
        let text = ManPage.text
        for flag in Flag.all { #expect(text.contains("\\fB\(ManPage.plain("--" + flag.long))\\fR")) }
        for command in Command.words { #expect(text.contains("\\fBnevod\\-host\\fR \\fB\(command)\\fR")) }
        for (code, _) in ExitCode.documented { #expect(text.contains(".TP\n.B \(code)\n")) }
    }

    @Test(
        "Markup in a text is escaped",
        arguments: [
            ("a-b", "a\\-b"), ("\\fB", "\\(rsfB"), (".TH", "\\&.TH"), ("'x'", "\\&\\(aqx\\(aq"), ("a\n.b\n\nc", "a\n\\&.b\nc"),
            ("\"~^`", "\\(dq\\(ti\\(ha\\(ga"), ("…é", "\\[u2026]\\[u00E9]"), ("😀", "\\[u1F600]"), ("", ""),
        ])
    func escapes(text: String, escaped: String) {
        #expect(ManPage.line(text) == escaped)
    }

    @Test("groff reports no warnings and sets dashes that can be pasted")
    func groff() throws {
        guard Shell.has("groff") else { return }
        let folder = try TemporaryFolder()
        let page = try folder.write("nevod-host.1", ManPage.text)
        let (warnings, _) = try Shell.run("groff -man -ww -Tutf8 '\(page)' >/dev/null")
        // Minimal installations lack the macros.
        guard !warnings.contains("can't find macro file"), !warnings.contains("can't open") else {
            print("skipped: groff without its macros: \(warnings)")
            return
        }
        #expect(warnings == "")
        let (text, _) = try Shell.run("groff -man -Tutf8 -P-cbou '\(page)'")
        #expect(text.contains("-o, --output FILE"))
        #expect(text.contains("--max-time SECONDS"))
    }

    @Test("mandoc has nothing to say, not even about the style")
    func mandoc() throws {
        guard Shell.has("mandoc") else { return }
        let folder = try TemporaryFolder()
        let page = try folder.write("nevod-host.1", ManPage.text)
        let (output, _) = try Shell.run("mandoc -T lint -W style '\(page)'")
        #expect(output == "")
    }

    @Test(
        "A synopsis has words in bold and placeholders in italics",
        arguments: [
            ("a --b C", "\\fBa\\fR \\fB\\-\\-b\\fR \\fIC\\fR"), ("[options] X|y", "[\\fRoptions\\fR] \\fIX\\fR|\\fBy\\fR"),
            ("", ""),
        ])
    func usage(text: String, formatted: String) {
        #expect(ManPage.usage(text) == formatted)
    }
}
