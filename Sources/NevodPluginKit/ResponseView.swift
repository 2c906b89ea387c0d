internal import NevodPluginABI

/// The response to a request that a scheme authorized. Valid only during the call of `respond`.
public struct ResponseView: ~Escapable {
    private let response: UnsafePointer<nevod_response>

    @_lifetime(borrow response)
    init(_ response: UnsafePointer<nevod_response>) {
        self.response = response
    }

    /// The status, 100 … 599.
    public var status: Int { Int(response.pointee.status) }

    /// Whether the response is a proxy's and not the origin's.
    public var isFromProxy: Bool { response.pointee.target_kind == Int32(NEVOD_TARGET_PROXY) }

    /// The URL of the response, after the redirects that the host followed.
    public var url: String { response.pointee.url.string }

    /// All lines in order, none merged.
    public var headers: [(name: String, value: String)] {
        lines.map { ($0.name.string, $0.value.string) }
    }

    /// The value of the first line of that name, in any letter case.
    public func header(_ name: String) -> String? {
        lines.first { $0.name.string.equalsIgnoringCase(name) }?.value.string
    }

    /// The values of all lines of that name.
    public func headers(named name: String) -> [String] {
        lines.filter { $0.name.string.equalsIgnoringCase(name) }.map(\.value.string)
    }

    private var lines: UnsafeBufferPointer<nevod_pair> {
        UnsafeBufferPointer(start: response.pointee.headers, count: Int(response.pointee.header_count))
    }
}
