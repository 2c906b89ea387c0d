import NevodHost
import NevodSupport

/// Builds the transport's configuration, and the options of a request, from the flags.
struct SessionBuilder {
    let arguments: Arguments

    func configuration() throws -> CurlSession.Configuration {
        CurlSession.Configuration(
            caFile: authorities,
            pinnedPublicKey: arguments.value(.pinnedKey),
            clientCertificate: try clientCertificate(),
            proxy: try proxy(),
            decompresses: arguments.has(.compressed),
            proxyUser: try proxyUser(),
            connection: try ConnectionBuilder(arguments: arguments).settings())
    }
}
