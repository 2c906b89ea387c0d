import NevodPluginKit
import NevodSupport
import Testing

@testable import CookieAuth

/// Tests how a setting is read as a sign. CookieSignTests tests with the library for which responses a sign holds.
struct SignTests {
    private func conditions(_ text: String, namesMember: Bool = false) throws -> [String] {
        try Sign(text, of: "success", namesMember: namesMember).conditions.map { "\($0.isNegated ? "not " : "")\($0.kind)" }
    }

    @Test(arguments: [
        "302", "status:302", "  302  ", #""302""#, #"status:"302""#, #""status:302""#, #"3"0"2"#,
    ])
    func `A status is read with and without its kind`(text: String) throws {
        #expect(try conditions(text) == ["status(ClosedRange(302...302))"])
    }

    @Test(arguments: [("1xx", 100...199), ("5xx", 500...599), ("100", 100...100), ("599", 599...599)])
    func `A status has three digits, or is a class`(text: String, range: ClosedRange<Int>) throws {
        #expect(try conditions("!\(text)") == ["not status(\(String(reflecting: range).replacing("Swift.", with: "")))"])
    }

    @Test func `Conditions are separated by spaces, and quoted ones have spaces`() throws {
        let sign = try Sign(#"200 !body:"a \"b\" \\ c"  json:"x.y=1 2" field:é"#, of: "success")
        #expect(sign.conditions.map(\.isNegated) == [false, true, false, false])
        guard case .body(let text) = sign.conditions[1].kind, case .json(let path, let value) = sign.conditions[2].kind,
            case .field(let field) = sign.conditions[3].kind
        else {
            Issue.record("\(sign)")
            return
        }
        #expect(String(decoding: text, as: UTF8.self) == #"a "b" \ c"#)
        #expect(path == ["x", "y"] && value == "1 2" && field == "é")
    }

    @Test(
        arguments: [
            ("json:a", ["a"], nil), ("json:a.b.0", ["a", "b", "0"], nil), ("json:a=", ["a"], ""), ("json:a=b=c", ["a"], "b=c"),
            ("json:a.b=c.d", ["a", "b"], "c.d"),
        ] as [(String, [String], String?)])
    func `A member is read as a path and a value`(text: String, path: [String], value: String?) throws {
        guard case .json(path, value) = try Sign(text, of: "success").conditions[0].kind else {
            Issue.record("\(try conditions(text))")
            return
        }
    }

    @Test(arguments: [
        ("location:/a", Sign.Part.path), ("location:/a?b=c", .target), ("location:https://h/*", .whole),
        ("location:*?x", .target),
        ("location:home", .path),
    ])
    func `The pattern says which part of the address it is for`(text: String, part: Sign.Part) throws {
        guard case .location(_, let read) = try Sign(text, of: "success").conditions[0].kind else {
            Issue.record("no location")
            return
        }
        #expect(read == part)
    }

    @Test func `A bare member is one only where the setting says so`() throws {
        #expect(try conditions("code=1", namesMember: true) == conditions("json:code=1"))
        #expect(try conditions("!a.b=x:y", namesMember: true) == conditions("!json:a.b=x:y"))
        #expect(throws: SchemeError.self) { try conditions("code=1") }
        #expect(throws: SchemeError.self) { try conditions("=1", namesMember: true) }
    }

    @Test func `The types of the bodies that a sign needs are known`() throws {
        #expect(try Sign("302 cookie:a location:/ header:a deleted:b", of: "success").types == [])
        #expect(try Sign("403 json:a body:b", of: "expired").types == [] && Sign("location:/a", of: "expired").types == [])
        #expect(try Sign("200 header:a", of: "expired").types.contains("application/hal+json"))
        #expect(try Sign("json:a", of: "success").types.contains("application/json"))
        #expect(try Sign("body:a", of: "success").types.contains("text/plain"))
    }

    /// A setting as long as the host allows.
    @Test func `Long signs are read in time`() throws {
        let conditions = try conditions(String(repeating: "302 ", count: 20_000))
        #expect(conditions.count == 20_000)
        #expect(try self.conditions("body:" + String(repeating: "x", count: 100_000)).count == 1)
        #expect(throws: SchemeError.self) { try self.conditions(String(repeating: "\"", count: 99_999)) }
    }
}
