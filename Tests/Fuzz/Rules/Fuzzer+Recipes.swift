import NevodPluginKit
import NevodSupport

@testable import HMACAuth
@testable import NevodHost

// Not the exported function: other plugins in this program have one of the same name.
private let recipePlugin = PluginExport(HMACAuth.self, name: "HMACAuth", version: "1", vendor: "NevodHost")

extension Fuzzer {
    /// A recipe of the scheme hmac, as a person would write it.
    static let recipe = Fuzzer("recipe") { input in
        var reader = RecipeReader { $0 != .memo }
        do throws(RecipeError) {
            try reader.read(input.array)
            try reader.checkUses()
            var recipe = reader.recipe
            try RecipeChecks.check(&recipe)
            recipe.optimize(keepsAll: false)
            _ = recipe.needs
            expect(recipe.conditions.count <= 6 && recipe.steps.count <= 256, "a recipe is bounded")
        } catch {
            let lines = input.lines
            expect(error.place.line >= 1 && error.place.line <= max(lines.count, 1), "a fault has a line")
            expect(error.place.column >= 1, "a fault has a column")
            expect(!error.problem.isEmpty, "a fault has words")
        }
    }

    /// A request signed by a recipe gives errors at worst, and the same result twice.
    ///
    /// The input is a template, a line with the target, and the body.
    static let recipeRequest = Fuzzer("recipe-request") { input in
        let bytes = input.array
        let lines = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 2, omittingEmptySubsequences: false)
        let template = String(decoding: lines[0], as: UTF8.self)
        let target = lines.count > 1 ? String(decoding: lines[1], as: UTF8.self) : "a?b=c"
        let body = lines.count > 2 ? Array(lines[2]) : []
        var settings: SchemeSettings = [
            "api-key": "key", "secret": .secret(Secret("s3cret")), "passphrase": .secret(Secret("pass")),
            "token": .secret(Secret("token")), "memo": .secret(Secret("memo")),
        ]
        for line in [
            "let a = \(template)", "let b = {method}{a}{nonce}", "header X-Signature = {b|hmac:sha256:secret|hex}",
            "header X-Value = {a|base64url}", "accept unsigned-time", "accept unbound-signature",
        ] { settings.add("recipe", .text(line)) }
        guard let request = try? HTTPRequest(.post, "https://example.com/\(target)", body: body.isEmpty ? .none : .bytes(body)),
            let scheme = try? Plugin(builtIn: UnsafeRawPointer(recipePlugin.table)).scheme("hmac"),
            let token = try? scheme.makeInstance(settings: settings, clock: HostClock { 1_700_000_000_123_456_789 }).token
        else { return }
        var (once, twice) = (request, request)
        guard (try? token.authorize(&once)) != nil else { return }
        expect((try? token.authorize(&twice)) != nil, "a request that was signed is signed again")
        expect(once.headers["X-Signature"]?.utf8.count == 64, "a signature is sent")
        if !template.contains("nonce") { expect(once.headers["X-Value"] == twice.headers["X-Value"], "a value has no memory") }
    }
}
