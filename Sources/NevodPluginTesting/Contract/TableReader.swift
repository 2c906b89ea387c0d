internal import NevodPluginABI

/// Reads what the other side passes. Reports what can't be read, instead of trusting it.
struct TableReader {
    /// Larger blocks are assumed to be a mistake.
    private static let largest: UInt64 = 64 << 20
    private static let mostEntries: UInt32 = 65_536

    private(set) var faults: [String] = []

    mutating func fault(_ text: String) { faults.append(text) }

    mutating func bytes(_ bytes: nevod_bytes, _ what: String) -> [UInt8] {
        guard bytes.count > 0 else { return [] }
        guard let data = bytes.data else {
            faults.append("\(what) has a length of \(bytes.count) bytes, but its pointer is NULL")
            return []
        }
        guard bytes.count <= Self.largest else {
            faults.append("\(what) has a length of \(bytes.count) bytes")
            return []
        }
        return Array(UnsafeBufferPointer(start: data, count: Int(bytes.count)))
    }

    mutating func array<Value>(_ start: UnsafePointer<Value>?, _ count: UInt32, _ what: String) -> UnsafeBufferPointer<Value> {
        guard count > 0 else { return UnsafeBufferPointer(start: nil, count: 0) }
        guard let start, count <= Self.mostEntries else {
            faults.append(start == nil ? "\(what) has \(count) entries, but is NULL" : "\(what) has \(count) entries")
            return UnsafeBufferPointer(start: nil, count: 0)
        }
        return UnsafeBufferPointer(start: start, count: Int(count))
    }

    mutating func pairs(_ start: UnsafePointer<nevod_pair>?, _ count: UInt32, _ what: String) -> [ContractPair] {
        array(start, count, what).map { ContractPair(bytes($0.name, "a name of \(what)"), bytes($0.value, "a value of \(what)")) }
    }

    /// Copies the fields that a struct has; the rest keep the values of `zero`.
    ///
    /// - Returns: nil if it is NULL, or shorter than the contract allows.
    mutating func table<Table>(_ pointer: UnsafePointer<Table>?, _ zero: Table, _ minimum: UInt32, _ name: String) -> Table? {
        guard let pointer else {
            faults.append("\(name) is NULL")
            return nil
        }
        let size = UnsafeRawPointer(pointer).load(as: UInt32.self)
        guard size >= minimum else {
            faults.append("\(name) has struct_size \(size), less than \(minimum)")
            return nil
        }
        var table = zero
        withUnsafeMutableBytes(of: &table) { copy in
            copy.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: min(Int(size), copy.count)))
        }
        return table
    }

    mutating func token(_ pointer: UnsafePointer<nevod_token>?) -> ContractToken? {
        guard let table = table(pointer, nevod_token(), NEVOD_TOKEN_MINIMUM, "nevod_token") else { return nil }
        var token = ContractToken(
            bytes(table.bytes, "a token"), expiresAt: table.expires_at_unix_ns, account: bytes(table.account, "a token's account")
        )
        token.reserved = table.reserved
        return token
    }

    mutating func flowRequest(_ pointer: UnsafePointer<nevod_flow_request>?) -> ContractFlowRequest? {
        guard let table = table(pointer, nevod_flow_request(), NEVOD_FLOW_REQUEST_MINIMUM, "nevod_flow_request") else {
            return nil
        }
        return ContractFlowRequest(
            method: bytes(table.method, "the method"), url: bytes(table.url, "the url"),
            headers: pairs(table.headers, table.header_count, "the headers"), body: bytes(table.body, "the body"),
            followsRedirects: table.follow_redirects, reserved: table.reserved)
    }

    mutating func questions(
        _ start: UnsafePointer<UnsafePointer<nevod_question>?>?, _ count: UInt32
    ) -> [ContractQuestion] {
        var questions: [ContractQuestion] = []
        for pointer in array(start, count, "the questions") {
            guard let table = table(pointer, nevod_question(), NEVOD_QUESTION_MINIMUM, "nevod_question") else { continue }
            questions.append(
                ContractQuestion(
                    kind: table.kind, name: bytes(table.name, "a question's name"), prompt: bytes(table.prompt, "a prompt"),
                    choices: array(table.choices, table.choice_count, "the choices").map { bytes($0, "a choice") },
                    reserved: table.reserved))
        }
        return questions
    }

    mutating func listen(_ pointer: UnsafePointer<nevod_listen>?) -> ContractListen? {
        guard let table = table(pointer, nevod_listen(), NEVOD_LISTEN_MINIMUM, "nevod_listen") else { return nil }
        return ContractListen(
            flags: table.flags, path: bytes(table.path, "the path"), host: bytes(table.host, "the host"), port: table.port,
            reserved: table.reserved)
    }
}

/// Reads the structs that a host fills, for a recording between host and plugin.
extension TableReader {
    mutating func view(_ pointer: UnsafePointer<nevod_view>?) -> ContractView {
        var view = ContractView()
        guard let table = table(pointer, nevod_view(), NEVOD_VIEW_MINIMUM, "nevod_view") else { return view }
        view.targetKind = table.target_kind
        view.method = bytes(table.method, "the method")
        view.scheme = bytes(table.scheme, "the scheme")
        view.authority = bytes(table.authority, "the authority")
        view.target = bytes(table.target, "the target")
        view.headers = pairs(table.headers, table.header_count, "the headers")
        view.bodyKind = table.body_kind
        view.bodyLength = table.body_length
        view.body = bytes(table.body, "the body")
        view.digests = pairs(table.digests, table.digest_count, "the digests")
        view.attempt = table.attempt
        view.unixTime = table.unix_time_ns
        view.random = bytes(table.random, "the random bytes")
        view.useCount = table.use_count
        view.state = bytes(table.state, "the state")
        view.parameters = pairs(table.parameters, table.parameter_count, "the parameters")
        view.reserved = table.reserved
        return view
    }

    mutating func response(_ pointer: UnsafePointer<nevod_response>?) -> ContractResponse? {
        guard let pointer else { return nil }
        guard let table = table(pointer, nevod_response(), NEVOD_RESPONSE_MINIMUM, "nevod_response") else { return nil }
        var response = ContractResponse(
            table.status, headers: pairs(table.headers, table.header_count, "the headers"), body: bytes(table.body, "the body"),
            url: bytes(table.url, "the url"))
        response.targetKind = table.target_kind
        response.digests = pairs(table.digests, table.digest_count, "the digests")
        response.flags = table.flags
        return response
    }

    mutating func event(_ pointer: UnsafePointer<nevod_event>?) -> ContractEvent {
        guard let table = table(pointer, nevod_event(), NEVOD_EVENT_MINIMUM, "nevod_event") else { return ContractEvent(0) }
        var event = ContractEvent(Int(table.kind))
        event.unixTime = table.unix_time_ns
        event.random = bytes(table.random, "the random bytes")
        event.response = response(table.response)
        event.token = table.token.flatMap { token($0) }
        event.answers = pairs(table.answers, table.answer_count, "the answers")
        event.transportError = table.transport_error
        event.message = bytes(table.message, "the message")
        event.url = bytes(table.url, "the url")
        event.state = bytes(table.state, "the state")
        event.account = bytes(table.account, "the account")
        event.body = bytes(table.body, "the body")
        event.parameters = pairs(table.parameters, table.parameter_count, "the parameters")
        event.reserved = table.reserved
        return event
    }
}

/// The size of a struct as a plugin finds it, for example from an older or a later host.
package struct StructShape: Sendable {
    /// The value of `struct_size`, and the number of bytes that are there.
    package let size: Int
    /// The value of each byte beyond the struct that this host knows.
    package let filler: UInt8

    package init(size: Int, filler: UInt8 = 0xA5) {
        self.size = size
        self.filler = filler
    }

    /// The shape of a later host's struct, which is longer than this host's.
    package static func grown(_ kind: ContractStruct, by count: Int = 64, filler: UInt8 = 0xA5) -> StructShape {
        StructShape(size: kind.minimum + count, filler: filler)
    }

    /// Shorter than the contract allows.
    package static func shortened(_ kind: ContractStruct, by count: Int = 8) -> StructShape {
        StructShape(size: max(4, kind.minimum - count))
    }
}

/// The structs that a host fills for a plugin.
package enum ContractStruct: String, Sendable, CaseIterable {
    case errors, host, view, edits, output, response, token, event, actions
    case publicSuffix = "public_suffix"

    /// The size in the struct's first revision, which every plugin may rely on.
    package var minimum: Int {
        switch self {
        case .errors: Int(NEVOD_ERRORS_MINIMUM)
        case .host: Int(NEVOD_HOST_MINIMUM)
        case .view: Int(NEVOD_VIEW_MINIMUM)
        case .edits: Int(NEVOD_EDITS_MINIMUM)
        case .output: Int(NEVOD_OUTPUT_MINIMUM)
        case .response: Int(NEVOD_RESPONSE_MINIMUM)
        case .token: Int(NEVOD_TOKEN_MINIMUM)
        case .event: Int(NEVOD_EVENT_MINIMUM)
        case .actions: Int(NEVOD_ACTIONS_MINIMUM)
        case .publicSuffix: MemoryLayout<nevod_public_suffix>.size
        }
    }
}
