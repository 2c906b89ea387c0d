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
        // html5lib ignores that `</p>` ends a drawing, and orders fields as browsers do where a table moves them.
        let parts = [
            "<form id=a>", "<form action='b' method=post>", "</form>", "<input name=a>",
            "<input type=hidden name=b value='&lt;'>",
            "<input name=c form=a value=1>", "<input name=d form=zz>", "<button name=e>", "</button>", "<select name=f>",
            "</select>",
            "<option>", "<option value=1 selected>", "<option disabled value=2>", "</option>", "<optgroup disabled>",
            "<optgroup>",
            "</optgroup>", "<textarea name=g>", "\n", "</textarea>", "<fieldset disabled>", "<fieldset>", "</fieldset>",
            "<legend>", "</legend>", "<datalist>", "</datalist>",
            "<div>", "</div>", "text", "&amp;", "&", "<", ">", "<!--", "-->", "--!>", "<!", "</", "\"", "'", "=", " ", "/",
            "<script>",
            "</script>", "<script", "</script", "<style>", "</style>", "<title>t", "</title>", "<meta name=h content=i>", "<p>",
            "<noscript>", "</noscript>", "<input name=\"", "<input value='", "<br>", "<span>", "</span>", "<li>", "<hr>",
            "<table><tr><td>", "</td></tr></table>", "<svg>", "</svg>", "<![CDATA[", "]]>", "\0", "\r\n",
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
        let output = try Command.output(["/usr/bin/python3", "-B", "-O", judge, file.path])
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

    // MARK: - What Chromium finds

    private func summary(_ html: String) -> [String] {
        page(html).forms.map { form in
            let fields = form.fields.map { "\($0.name)=\($0.value)\($0.isDisabled ? " off" : "")" }
            return ([form.isForm ? form.action : "none"] + fields).joined(separator: ", ")
        }
    }

    @Test(arguments: [
        ("<form action=/l><div><p><input name=u></form><input name=t></div><form action=/s>", ["/l, u=, t=", "/s"]),
        ("<form action=/l><table><tr><td><input name=u></form></table><input name=z>", ["/l, u=, z="]),
        ("<form action=/l><table><tr><td></td></tr></table></form><input name=z>", ["/l", "none, z="]),
        ("<form action=/l><object></form><input name=u></object><input name=z>", ["/l, u=, z="]),
        ("<form action=/l><b></form><input name=z></b><input name=y>", ["/l, z=", "none, y="]),
        ("<form action=/l><span></form><form action=/2><input name=z></form><input name=y>", ["/l, y=", "/2, z="]),
        ("<form action=/l><div></form></div><input name=z>", ["/l", "none, z="]),
        ("<div><form action=/l></div><input name=z></form><input name=y>", ["/l, z=", "none, y="]),
        ("<table><tr><form action=/l><td><input name=u></form></table><input name=z>", ["/l, u=", "none, z="]),
        ("<form action=/l><p></p></div></span></form><input name=z>", ["/l", "none, z="]),
        ("<form action=/l><li><form action=/m><input name=u><li></form><input name=z>", ["/l, u=", "none, z="]),
        ("<template><form action=/t></template><form action=/l><template></form></template><input name=u>", ["/l, u="]),
    ])
    func `A field belongs to its form, even after the form's end tag`(_ html: String, _ forms: [String]) {
        #expect(summary(html) == forms)
    }

    @Test(arguments: [
        ("<svg><![CDATA[ a > b <form action=/c> ]]></svg><form action=/l><input name=u>", ["/l, u="]),
        ("<svg><g><form action=/c><input name=u></svg><input name=z>", ["none, z="]),
        ("<svg/><form action=/l><input name=u>", ["/l, u="]),
        ("<svg><g><div><form action=/l><input name=u></div></g></svg>", ["/l, u="]),
        ("<svg><font><form action=/c></font></svg><svg><font color=red><form action=/l>", ["/l"]),
        ("<form action=/l><svg><foreignObject><input name=u></foreignObject><input name=x></svg><input name=z>", ["/l, u=, z="]),
        ("<form action=/l><svg><desc><input name=u></desc><path></svg><input name=z>", ["/l, u=, z="]),
        ("<form action=/l><math><mi><input name=u></mi><desc><input name=x></desc></math>", ["/l, u="]),
        ("<math><annotation-xml encoding='Text/HTML'><form action=/l></annotation-xml></math>", ["/l"]),
        ("<math><annotation-xml><form action=/l></annotation-xml></math>", []),
        ("<svg><g></p><form action=/l>", ["/l"]),
        ("<svg><style><form action=/c></style><script><input name=x></script></svg><input name=z>", ["none, z="]),
        ("<![CDATA[ > <form action=/l>", ["/l"]),
    ])
    func `Drawings and formulas have no fields, except where they contain HTML`(_ html: String, _ forms: [String]) {
        #expect(summary(html) == forms)
    }

    @Test func `Drawings and formulas have no base, links and title`() {
        let page = page(
            "<svg><base href=/x/><a href=/x>x</a><title>x</title></svg><base href=/b/><a href=/l>l</a><title>T</title>")
        #expect(page.baseHref == "/b/")
        #expect(page.links == ["/l"])
        #expect(page.title == "T")
        #expect(self.page("<svg><title>Logo<title></svg><title>T</title><form action=/l>").title == "</svg><title>T")
        #expect(summary("<svg><title>Logo<title></svg><title>T</title><form action=/l>") == ["/l"])
    }

    @Test(arguments: [
        ("<table><tr><td><select name=s><option>a</td></tr></table><form action=/l><input name=u>", ["/l, u=", "none, s=a"]),
        ("<table><select name=s><option>A<tr><td>B</td></tr></table>", ["none, s=A"]),
        ("<form action=/l><select name=s><option>a<input name=u>b", ["/l, s=a, u="]),
        ("<select name=s><option>a<select name=x><option>b", ["none, s=a"]),
        ("<select name=s><button name=b></button><div><option>a</div><option selected>x<hr>y", ["none, s=x, b="]),
        ("<form action=/l><label><select name=s><option>a</label></select><input name=u>", ["/l, s=a, u="]),
        ("<select name=s><form action=/f></form><option>a</select><form action=/l>", ["/f", "/l", "none, s=a"]),
        ("<select name=s><template><option>x</option></template><option>a</select>", ["none, s=a"]),
        ("<select name=s><datalist><option>x</datalist><option>a<b><option>b</select>", ["none, s=ab"]),
        (
            "<select name=s multiple><option selected>a<optgroup disabled><option selected>b</select><input name=z>",
            ["none, s=a, s=b off, z="]
        ),
        ("<select name=s><optgroup disabled><option>a</optgroup>x<option>b</option>y</select>", ["none, s=b"]),
    ])
    func `A select contains and ends as in browsers since 2025`(_ html: String, _ forms: [String]) {
        #expect(summary(html) == forms)
    }

    @Test(arguments: ["style", "title", "xmp", "iframe", "noembed", "noframes"])
    func `An element of text in an option ends at its own end tag`(_ element: String) {
        #expect(summary("<select name=s><option><\(element)><!--</\(element)>X</select><input name=u>") == ["none, s=<!--X, u="])
    }

    @Test func `A script's text isn't an option's, and a template's isn't either`() {
        #expect(summary("<select name=s><option><script><!--</script>X</select><input name=u>") == ["none, s=X, u="])
        #expect(summary("<select name=s><option><template><p>x<script>y</script></template>X</select>") == ["none, s=X"])
    }

    @Test func `The names of HTML 4 are read, and no name is read as the beginning of another`() {
        let names = "&Scaron;&OElig;&Omega;&fnof;&dagger;&ensp;&zwnj;&lang;&thetasym;&COPY;&REG&hearts;"
        let text = "ŠŒΩƒ†\u{2002}\u{200C}⟨ϑ©®♥"
        #expect(summary("<input name=a value='\(names)'><textarea name=b>\(names)") == ["none, a=\(text), b=\(text)"])
        let longer = "&notin; &notinE; &centerdot; &divideontimes; &gtdot; &timesb; &notit; &ampx"
        #expect(summary("<textarea name=a>\(longer)") == ["none, a=∉ ⋹\u{338} · ⋇ ⋗ ⊠ ¬it; &x"])
        #expect(summary("<input name=a value='\(longer)'>") == ["none, a=∉ ⋹\u{338} · ⋇ ⋗ ⊠ &notit; &ampx"])
    }

    @Test func `Nothing ends plaintext, and the first title counts`() {
        #expect(summary("<form action=/l><input name=u><plaintext></plaintext><input name=x></form>") == ["/l, u="])
        #expect(page("<title></title><title>T</title>").title == "")
        #expect(page("<template><title>x</title></template><title>T</title>").title == "T")
    }

    @Test(arguments: [
        ("<div><fieldset disabled><input name=x></div><input name=u>", ["none, x= off, u="]),
        ("<table><tr><td><fieldset disabled><input name=x></td><td><input name=u></table>", ["none, x= off, u="]),
        ("<fieldset disabled><div><legend><input name=x></legend></div><input name=u></fieldset>", ["none, x= off, u= off"]),
        ("<fieldset disabled><legend><input name=a></legend><legend><input name=b></legend>", ["none, a=, b= off"]),
        ("<fieldset disabled><fieldset><legend><input name=a>", ["none, a= off"]),
        ("<fieldset disabled><legend><fieldset disabled><input name=a></fieldset><input name=b>", ["none, a= off, b="]),
        ("<div><datalist><input name=a></div><input name=b>", ["none, a= off, b="]),
    ])
    func `A fieldset disables what is in it, except its first legend`(_ html: String, _ forms: [String]) {
        #expect(summary(html) == forms)
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
        #expect(page("<p class=error>a\u{1B}[31mb\u{202E}\u{7F}\0  c\n<br>d &#x9b;<table><td>e").alerts == ["a[31mb c d ›"])
        #expect(page("<div class=error>a<br>b<i>c</i><div>d").alerts == ["a bc d"])
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
        #expect(page("<table><td><span class=error>a</td></table></div>b").alerts == ["a"])
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
