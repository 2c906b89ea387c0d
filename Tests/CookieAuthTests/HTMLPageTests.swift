import Foundation
import NevodSupport
import NevodTestSupport
import Testing

struct HTMLPageTests {
    private static let pages = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Pages")

    private func page(_ text: String) -> HTMLPage { HTMLPage(Secret(text)) }

    private func file(_ name: String) throws -> HTMLPage {
        try HTMLPage(Secret(copying: [UInt8](Data(contentsOf: Self.pages.appending(path: "\(name).html")))))
    }

    private func entries(_ form: HTMLForm?) -> [String] {
        (form?.successful ?? []).map { "\($0.name)=\($0.value)" }
    }

    // MARK: - What html5lib finds

    @Test func `Pages of frameworks, and odd ones, are read as html5lib reads them`() throws {
        let files = try FileManager.default.contentsOfDirectory(at: Self.pages, includingPropertiesForKeys: nil)
            .sorted { $0.path < $1.path }
        try #require(files.count >= 9)
        try compare(files.map { try [UInt8](Data(contentsOf: $0)) })
    }

    @Test func `Pages of random tags are read as html5lib reads them`() throws {
        let parts = [
            "<form id=a>", "<form action='b' method=post>", "</form>", "<input name=a>",
            "<input type=hidden name=b value='&lt;'>",
            "<input name=c form=a value=1>", "<input name=d form=zz>", "<button name=e></button>", "<select name=f>",
            "</select>",
            "<option>", "<option value=1 selected>", "<option disabled value=2>", "</option>", "<optgroup disabled>",
            "<optgroup>",
            "</optgroup>", "<textarea name=g>", "\n", "</textarea>", "<fieldset disabled>", "<fieldset>", "</fieldset>",
            "<div>", "</div>", "text", "&amp;", "&", "<", ">", "<!--", "-->", "--!>", "<!", "</", "\"", "'", "=", " ", "/",
            "<script>",
            "</script>", "<script", "</script", "<style>", "</style>", "<title>t", "</title>", "<meta name=h content=i>", "<p>",
            "</p>",
            "<noscript>", "</noscript>", "<input name=\"", "<input value='", "<br>", "<b>", "</b>", "\0", "\r\n",
        ]
        var random = SeededRandom(seed: 20)
        let soups = (0..<400).map { _ in
            "<body>"
                + (0..<Int.random(in: 1...30, using: &random)).map { _ in parts.randomElement(using: &random) ?? "" }.joined()
        }
        try compare(soups.map { [UInt8]($0.utf8) })
    }

    private struct Verdict: Decodable {
        struct Form: Decodable {
            let action, id: String
            let fields: [[Value]]
        }

        enum Value: Decodable, Equatable {
            case text(String)
            case flag(Bool)

            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                if let flag = try? container.decode(Bool.self) {
                    self = .flag(flag)
                } else {
                    self = .text(try container.decode(String.self))
                }
            }
        }

        let forms: [Form]
        let outside: [[Value]]
        let metas: [[String]]
        let title: String
    }

    private func compare(_ pages: [[UInt8]], _ location: SourceLocation = #_sourceLocation) throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "pages-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        let texts = pages.map { page in String(String.UnicodeScalarView(page.map { Unicode.Scalar($0) })) }
        try JSONEncoder().encode(texts).write(to: file)
        let judge = Self.pages.deletingLastPathComponent().appending(path: "Judges/html.py").path
        let output = try Command.output(["/usr/bin/python3", "-B", judge, file.path])
        let verdicts = try JSONDecoder().decode([Verdict].self, from: Data(output.utf8))
        try #require(verdicts.count == pages.count)
        for (bytes, verdict) in zip(pages, verdicts) {
            let page = HTMLPage(Secret(copying: bytes))
            let comment = Comment(rawValue: String(decoding: bytes, as: UTF8.self).debugDescription)
            let forms = page.forms.filter(\.isForm)
            #expect(forms.map(\.action) == verdict.forms.map(\.action), comment, sourceLocation: location)
            #expect(forms.map(\.id) == verdict.forms.map(\.id), comment, sourceLocation: location)
            #expect(forms.map { fields($0) } == verdict.forms.map(\.fields), comment, sourceLocation: location)
            #expect(fields(page.forms.first { !$0.isForm }) == verdict.outside, comment, sourceLocation: location)
            #expect(page.metas.map { [$0.name, $0.content] } == verdict.metas, comment, sourceLocation: location)
            // The title is for people, and limited in length.
            let title = verdict.title.unicodeScalars.count > 200 ? String(page.title.unicodeScalars.dropLast()) : page.title
            #expect(verdict.title.hasPrefix(title), comment, sourceLocation: location)
            #expect(title.isEmpty == verdict.title.isEmpty, comment, sourceLocation: location)
        }
    }

    private func fields(_ form: HTMLForm?) -> [[Verdict.Value]] {
        (form?.fields ?? []).map {
            [.text($0.name), .text($0.value), .text($0.type), .flag($0.isChecked), .flag($0.isDisabled)]
        }
    }

    // MARK: - What a browser sends

    @Test func `A form gives what a browser sends`() throws {
        let page = try file("controls")
        let form = try #require(page.forms.first)
        #expect(form.action == "../a?b=c&d=e&copy=f")
        #expect(form.method == "POST")
        #expect(form.enctype == "multipart/form-data")
        // The first submit button is an image, so no other is pressed.
        #expect(
            entries(form) == [
                "language=de", "first=The first one", "many=a", "many=d", "group=2", "c2=on", "c3=v", "r=2",
                "r2=2", "n=ab", "t=line one\r\nline <b>two</b> & three", "inlegend=", "on=", "plain=", "_charset_=UTF-8",
                "inone=",
            ])
        #expect(form.successful.allSatisfy { !$0.name.isEmpty })
    }

    @Test func `The first submit button is pressed, and no later one`() throws {
        #expect(try entries(file("devise").passwordForm).last == "commit=Log in")
        #expect(try entries(file("wordpress").passwordForm).contains("wp-submit=Log In"))
        #expect(try entries(file("mediawiki").passwordForm).contains("wploginattempt=Log in"))
        #expect(try entries(file("keycloak").passwordForm).contains("login=Sign In"))
        #expect(
            try entries(file("aspnet").passwordForm) == [
                "Input.Email=", "Input.Password=", "__RequestVerificationToken=CfDJ8", "Input.RememberMe=false",
            ])
        #expect(entries(page("<form><button>Log in</button><button name=a value=register>").forms.first) == [])
        #expect(entries(page("<form><button disabled name=a>Log in</button><button name=b>").forms.first) == [])
        #expect(entries(page("<form><button type=button name=a><input type=submit name=b>").forms.first) == ["b="])
    }

    @Test func `A template's fields belong to no form`() {
        let page = page("<form><input name=a><template><form><input name=b type=password></form></template><input name=c></form>")
        #expect(entries(page.forms.first) == ["a=", "c="])
        #expect(page.forms.count == 1)
        #expect(!page.hasPassword)
    }

    @Test func `Forms, fields and meta elements are found by name`() throws {
        let page = try file("devise")
        #expect(page.form(with: "user[email]")?.id == "new_user")
        #expect(page.form(with: "e\u{301}") == nil)
        #expect(page.passwordForm?.value(named: "authenticity_token") == "2lYx+a/b==")
        #expect(page.passwordForm?.field(named: "user[password]")?.autocomplete == "current-password")
        #expect(page.meta(named: "CSRF-Token") == "hb9VxPzP0oTf+2z/Q==")
        #expect(page.hasPassword)
        #expect(page.baseHref == nil)
        #expect(try file("aspnet").baseHref == "~/")
        #expect(try file("jupyter").hasPassword)
        #expect(self.page("<input type=PassWord>").passwordForm?.isForm == false)
    }

    // MARK: - Messages

    @Test(arguments: [
        (
            "django",
            [
                "Please enter the correct username and password for a staff account. Note that both fields may be case-sensitive."
            ]
        ),
        ("devise", ["Invalid Email or password."]),
        (
            "wordpress",
            ["Error: The password you entered for the username ann is incorrect. Lost your password?"]
        ),
        ("mediawiki", ["Incorrect username or password entered. Please try again."]),
        ("jupyter", ["Invalid credentials"]), ("aspnet", ["Invalid login attempt."]),
        ("keycloak", ["Invalid username or password."]),
    ])
    func `What the page says to a person is found`(_ name: String, _ alerts: [String]) throws {
        #expect(try file(name).alerts == alerts)
    }

    @Test(arguments: [
        "<div class=error hidden>x</div>", "<div class=error style='color:red; DISPLAY : none'>x</div>",
        "<div style=display:none><p class=error>x</p></div>", "<div class='alert d-none'>x</div>",
        "<div class=error><script>x</script><style>x</style><!-- x --></div>", "<div class=error>×</div>",
        "<div class=alert><button>Close</button><span aria-hidden=true>x</span></div>",
        "<noscript><p class=error>x</p></noscript>",
        "<template><p class=error>x</p></template>", "<body class=error>x</body>", "<p class=err>x</p>",
        "<p class=error>{{ message }}</p>", "<input class=error value=x>x", "<div class=error><select><option>x</select></div>",
        "<svg class=error><title>x</title></svg>", "<div class='modal fade' id=modal-alert><a>OK</a></div>",
    ])
    func `What a browser doesn't show is no message`(_ html: String) {
        #expect(page(html).alerts == [])
    }

    @Test func `Messages are cleaned, bounded, told once, errors first`() {
        #expect(page("<p class=error>a\u{1B}[31mb\u{202E}\u{7F}\0  c\n<br>d &#x9b;<td>e").alerts == ["a[31mb c d ›"])
        #expect(page("<div class=error>a<br>b<i>c</i><td>d").alerts == ["a bc d"])
        let long = page("<p class=error>\(String(repeating: "é", count: 300))").alerts
        #expect(long == [String(repeating: "é", count: 199) + "…"])
        #expect(page((0..<9).map { "<p class=error>\($0)</p>" }.joined()).alerts == ["0", "1", "2"])
        #expect(page("<p class=error>a</p><p class=error>a</p>").alerts == ["a"])
        #expect(page("<p class=notice>n<p class=message>m<ul id=x-errors><li>e</ul>after").alerts == ["e", "n", "m"])
        // Tailwind's styles, as in Laravel's starter kits. The mark of a required field isn't a message.
        #expect(
            page("<label>Name <span class=text-red-500>*</span></label><ul class='mt-2 text-sm text-red-600'><li>No.</ul>").alerts
                == ["No."])
        #expect(page("<b class=text-red-600>a</b><p class=flash>b").alerts == ["b", "a"])
        #expect(page("<div role=alert><div>a<p>b</div>c</div>d").alerts == ["a b c"])
        #expect(page("<td><span class=error>a</td></table></div>b").alerts == ["a"])
    }

    // MARK: - Bounds

    @Test func `Too many fields, forms and bytes are left out, and that is told`() {
        let fields = page("<form>" + String(repeating: "<input name=a>", count: 513) + "</form><input name=b>")
        #expect(fields.forms.map(\.fields.count) == [512, 1])
        #expect(fields.forms.map(\.isCut) == [true, false])
        #expect(fields.isCut)
        let forms = page(String(repeating: "<form><input name=a></form>", count: 65) + "<input name=b>")
        #expect(forms.forms.count == 65)
        #expect(forms.forms.last?.isForm == false)
        #expect(forms.forms.last?.fields.map(\.name) == ["b"])
        #expect(forms.isCut)
        let named = page("<form id=a></form>" + String(repeating: "<input form=a name=b>", count: 600))
        #expect(named.forms.first?.fields.count == 512)
        #expect(named.isCut)
        let text = String(repeating: "x", count: 64 << 10)
        let long = page(
            "<form><input name=a value=\(text)><input name=b value=\(text)y><input name=\(text)z><select name=c><option>\(text)z")
        #expect(long.forms.first?.fields.map(\.name) == ["a"])
        #expect(long.forms.first?.value(named: "a")?.utf8.count == 64 << 10)
        #expect(long.forms.first?.isCut == true)
        #expect(page("<form action=\(text)z><input name=a>").forms.first?.isCut == true)
        #expect(!page("<form><input name=a>").isCut)
    }

    @Test(
        arguments: [
            "<", "<input ", "<input <input ", "<input name=a ", "<!--", "<!-- --", "<p class=error>", "<div hidden>", "</p>", "&",
            "&a",
            "&amp", "<script>", "<script><!--<script>", "</", "<select>", "<option>", "<option selected>x", "<form id=a>",
            "<input form=a>",
            "<textarea>", "<fieldset disabled>", "<template>", "<svg>", "<a b=\"", "<meta name=a>", "\0", "\u{FF}",
            "<p class=error>x</p>",
            "<div class='errorerrorerro'>", "<title>", "<div class='alert'>x</div>", "<form><input name=a>", "<form action='",
            "<select><option>",
        ])
    func `A page of one thing is read in a time that grows with its size`(_ unit: String) throws {
        let factor = try Growth.factor(8 << 10) { size in
            Secret(String(repeating: unit, count: size / unit.utf8.count))
        } _: {
            _ = HTMLPage($0)
        }
        #expect(factor < Growth.linear, Comment(rawValue: unit))
    }
}
