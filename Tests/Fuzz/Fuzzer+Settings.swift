import NevodSupport

@testable import HMACAuth
@testable import NevodHost
@testable import nevod_host

extension Fuzzer {
    /// The command line's config file.
    static let config = Fuzzer("config") { input in
        guard let profiles = try? ConfigParser(path: "config").profiles(input.array) else { return }
        let text = profiles.map { profile in
            let flags = profile.flags.map { flag in
                let long = Flag.all.first { $0.name == flag.name }.map {
                    $0.value == nil ? $0.long : "\($0.long) = \(flag.value)"
                }
                return (long ?? "") + "\n"
            }
            return "[\(profile.name)]\n" + (profile.baseURL.map { "url = \($0)\n" } ?? "") + flags.joined()
        }.joined()
        guard let again = try? ConfigParser(path: "config").profiles(Array(text.utf8)) else {
            return expect(false, "a written file is read again")
        }
        expect(again.map(summary) == profiles.map(summary), "profiles are read as they were written")
        for profile in profiles {
            for operand in ["orders?all#a", "https://example.com", ""] {
                _ = try? HTTPRequest(.get, profile.url(for: operand))
            }
        }
    }

    private static func summary(of profile: Profile) -> [[UInt8]] {
        [Array(profile.name.utf8), Array((profile.baseURL ?? "").utf8)]
            + profile.flags.flatMap { [Array("\($0.name)".utf8), Array($0.value.utf8)] }
    }

    /// A template of a scheme's setting.
    static let template = Fuzzer("template") { input in
        let text = input.text
        if let template = try? Template<MessagePlaceholder>("message", text) { check(template) }
        if let template = try? Template<ValuePlaceholder>("value", text) { check(template) }
    }

    private static func check<Placeholder>(_ template: Template<Placeholder>) {
        var text = ""
        for part in template.parts {
            switch part {
            case .literal(let range):
                text += String(decoding: template.bytes[range], as: UTF8.self).unicodeScalars.map {
                    $0 == "\\" || $0 == "{" || $0 == "}" ? "\\\($0)" : "\($0)"
                }.joined()
            case .placeholder(let placeholder): text += "{\(name(of: placeholder, in: template.bytes))}"
            }
        }
        let again = try? Template<Placeholder>("again", text)
        expect(again?.parts == template.parts && again?.bytes == template.bytes, "a template is read as it was written")
    }

    private static func name<Placeholder: TemplatePlaceholder>(of placeholder: Placeholder, in bytes: [UInt8]) -> String {
        if case .header(let range)? = placeholder as? MessagePlaceholder {
            return "header:" + String(decoding: bytes[range], as: UTF8.self)
        }
        return Placeholder.names.first { Placeholder(name: $0, at: 0) == placeholder } ?? ""
    }
}
