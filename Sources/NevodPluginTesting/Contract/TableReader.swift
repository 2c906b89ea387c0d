internal import NevodPluginABI

/// Reads what the other side passes. Reports what can't be read instead of trusting it.
struct TableReader {
    /// Larger blocks are taken for a mistake.
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

    /// Copies as much of a struct as it has; the rest keeps the values of `zero`.
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
