internal import NevodPluginABI

extension RequestView {
    /// Whether the credential is for a proxy on the way, which only a scheme with ``AuthScheme/authorizesProxies`` sees. `authorize`
    /// then sets `Proxy-Authorization` and nothing else; the view has the request line that the proxy sees, and no headers and no body.
    public var isForProxy: Bool { view.pointee.target_kind == Int32(NEVOD_TARGET_PROXY) }

    /// The length of the body in bytes; nil for a stream whose length isn't known.
    public var bodyLength: UInt64? {
        view.pointee.body_length == NEVOD_LENGTH_UNKNOWN ? nil : view.pointee.body_length
    }
}
