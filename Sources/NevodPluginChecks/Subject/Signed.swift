internal import NevodPluginABI
internal import NevodPluginTesting

/// The part of an `authorize` result that is compared between two calls: its status and its edits, without addresses and log lines.
struct Signed: Equatable {
    let result: Int32
    let edits: [SinkCall]

    init(_ outcome: ContractOutcome) {
        result = outcome.result
        edits = outcome.calls.compactMap { call in
            switch call {
            case .setHeader, .addHeader, .addQuery, .addCookie, .replaceBody: call
            case .wrapBody(let length, _): .wrapBody(length: length, wrapping: 0)
            default: nil
            }
        }
    }

    /// The first difference, without values, because they may be credentials.
    func difference(from other: Signed) -> String {
        if result != other.result {
            return "authorize returned \(TestFailure.name(of: result)), then \(TestFailure.name(of: other.result))"
        }
        if edits.count != other.edits.count { return "authorize made \(edits.count) edits, then \(other.edits.count)" }
        for (one, another) in zip(edits, other.edits) where one != another {
            if one.function != another.function { return "the edit was \(one.function), then \(another.function)" }
            return "\(Self.subject(one)) differed"
        }
        return "nothing differed"
    }

    static func subject(_ call: SinkCall) -> String {
        switch call {
        case .setHeader(let name, _), .addHeader(let name, _): "the header \(Shown.text(name))"
        case .addQuery(let name, _): "the query item \(Shown.text(name))"
        case .addCookie(let name, _): "the cookie \(Shown.text(name))"
        default: "the body"
        }
    }
}

/// Makes a plugin's texts fit to be shown in findings.
enum Shown {
    /// At most 80 characters. The report escapes a terminal's control characters.
    static func text(_ bytes: [UInt8]) -> String {
        let text = String(decoding: bytes.prefix(80), as: UTF8.self)
        return bytes.count > 80 ? "\(text)…" : text
    }
}

enum Status {
    static func isKnown(_ status: Int32) -> Bool { (Int32(NEVOD_OK)...Int32(NEVOD_INTERNAL)).contains(status) }
}
