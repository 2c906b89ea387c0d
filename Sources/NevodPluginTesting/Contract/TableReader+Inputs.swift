internal import NevodPluginABI

/// The structs that a host fills, as a recording between host and plugin reads them.
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
