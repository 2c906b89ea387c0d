internal import NevodPluginABI
public import NevodSupport

/// The browser's request at a redirect URI.
///
/// Any program on the machine may have sent it, and with a form any web page: check its proof, such as `state`. If it has none, call
/// ``AuthFlow/browseToRedirect(_:)`` again.
public struct FlowRedirect: Sendable {
    /// The requested URL, with its query.
    public let url: String
    /// The form that the browser posted; without bytes if ``AuthFlow/listen(path:host:port:formPost:)`` asked for none. A secret,
    /// because it may hold a code or a token.
    public let body: Secret

    init(_ event: nevod_event) {
        url = event.url.string
        body = Secret(copying: event.body.buffer)
    }

    /// The fields of ``body``, not encoded. Their texts are not wiped.
    public var form: FormFields { FormFields(parsing: String(revealing: body)) }
}
