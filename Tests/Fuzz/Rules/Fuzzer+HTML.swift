import NevodSupport

extension Fuzzer {
    /// A page with a login.
    static let html = Fuzzer("html") { input in
        let page = HTMLPage(bytes: input.bytes)
        expect(page.forms.count <= HTMLPage.mostForms + 1, "forms are bounded")
        expect(page.forms.dropLast().allSatisfy(\.isForm), "the fields that belong to no form are last")
        expect(page.forms.allSatisfy { $0.fields.count <= HTMLForm.mostFields }, "fields are bounded")
        expect(page.forms.allSatisfy { $0.successful.count <= $0.fields.count }, "no field is sent twice")
        expect(page.alerts.count <= 3 && page.metas.count <= HTMLPage.mostMetas, "messages are bounded")
        for text in page.alerts + [page.title] {
            expect(text.unicodeScalars.count <= 200, "a message is bounded")
            expect(!text.unicodeScalars.contains(where: \.isUnsafeAtTerminal), "a message controls no terminal")
        }
        // Written values are longer, and may then exceed a limit.
        guard input.bytes.count <= 4096 else { return }
        let again = HTMLPage(Secret(page.forms.map(text).joined()))
        expect(again.forms.map(parts) == page.forms.map(parts), "forms are read as they were written")
    }

    private static func text(of form: HTMLForm) -> String {
        let fields = form.fields.map { field in
            attributes([
                ("<input name", field.name), ("value", field.value), ("type", type(of: field)),
                ("autocomplete", field.autocomplete),
            ]) + (field.isChecked ? " checked" : "") + (field.isDisabled ? " disabled>" : ">")
        }
        guard form.isForm else { return fields.joined() }
        let start = attributes([
            ("<form action", form.action), ("method", form.method), ("enctype", form.enctype), ("id", form.id),
        ])
        return "\(start)>\(fields.joined())</form>"
    }

    /// The control's type as an input's. For another element, a type that keeps its value.
    private static func type(of field: HTMLField) -> String {
        ["textarea", "select"].contains(field.type) ? "hidden" : field.type
    }

    private static func attributes(_ attributes: [(name: String, value: String)]) -> String {
        attributes.map { name, value in
            let escapes: [Unicode.Scalar: String] = ["\"": "&quot;", "&": "&amp;", "\r": "&#13;"]
            return "\(name)=\"\(value.unicodeScalars.map { escapes[$0] ?? String($0) }.joined())\""
        }.joined(separator: " ")
    }

    private static func parts(of form: HTMLForm) -> [[UInt8]] {
        ([form.action, form.method, form.enctype, form.id]
            + form.fields.flatMap { [$0.name, $0.value, type(of: $0), $0.autocomplete, "\($0.isChecked)\($0.isDisabled)"] })
            .map { Array($0.utf8) }
    }
}
