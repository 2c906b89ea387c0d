internal import NevodPluginKit
internal import NevodSupport

/// The fields of a login, of a code or of a logout, sent as a form or as JSON.
struct Fields {
    private var fields: [(name: String, value: JSONValue)]

    init(_ fields: [(name: String, value: String)] = []) {
        self.fields = fields.map { ($0.name, .string($0.value)) }
    }

    /// Replaces the first field of that name, or appends one.
    mutating func set(_ name: String, _ value: JSONValue) {
        if let index = fields.firstIndex(where: { $0.name.equals(name) }) {
            fields[index].value = value
        } else {
            fields.append((name, value))
        }
    }

    var json: JSONValue { .object(fields.map { JSONValue.Member($0.name, $0.value) }) }

    var form: FormFields {
        var form = FormFields()
        for (name, value) in fields {
            if case .secret(let secret) = value {
                form.append(name, .secret(secret))
            } else {
                form.append(name, .text(value.asText ?? ""))
            }
        }
        return form
    }
}
