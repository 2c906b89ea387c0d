import NevodPluginKit
import NevodSupport
import Testing

@testable import CookieAuth

/// Tests which pages of a session are read.
struct PageNamesTests {
    @Test(arguments: [
        ("password", "<input name=password>", true), ("password", "<input name='PASSWORD'>", true),
        ("password", "<input name=pass>", false), ("password", "", false), ("user[password]", "user&#91;password&#93;", true),
        ("user[password]", "user", false), ("a[b]c", "b", false), ("a[b]c", "a", true), ("csrf-token", "token", true),
        ("csrf-token", "csrf", false), ("é", "x", true), ("", "x", true), ("x\u{0}y1", "y1", true),
    ])
    func `A page is read if it may have a name`(name: String, page: String, mayBe: Bool) {
        #expect(PageNames([name]).mayBe(in: Secret(page)) == mayBe)
        #expect(PageNames(["other", name]).mayBe(in: Secret(page)) == mayBe)
    }

    @Test func `Without names, no page is read`() {
        #expect(!PageNames([]).mayBe(in: Secret("<input name=password>")))
    }

    @Test func `A page without the names has none of its fields`() throws {
        let body = Secret("<form><input name=search></form>")
        func answer(_ names: PageNames?) throws -> Answer {
            Answer(
                status: 200, url: try #require(PageURL("http://h/")), headers: [("content-type", "text/html")], body: body,
                newCookies: [], deletedCookies: [], names: names)
        }
        let sign = try Sign("field:search !field:password", of: "expired")
        #expect(sign.holds(in: try answer(nil)))
        #expect(sign.holds(in: try answer(PageNames(["password"] + sign.fields))))
        #expect(try answer(PageNames(["password"])).page == nil)
    }
}
