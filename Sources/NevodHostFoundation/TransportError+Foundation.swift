internal import Foundation
internal import NevodHost

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

extension TransportError {
    init(_ error: any Error) {
        guard let error = error as? URLError else {
            self.init(.other, error.localizedDescription)
            return
        }
        // On Linux, this is libcurl's message.
        let underlying = error.userInfo[NSUnderlyingErrorKey] as? NSError
        let message = (underlying ?? error as NSError).localizedDescription
        let code: Code =
            switch error.code {
            case .cancelled: .cancelled
            case .timedOut: .timedOut
            case .cannotFindHost, .dnsLookupFailed: .hostNotFound
            case .cannotConnectToHost, .notConnectedToInternet: .connectionFailed
            case .networkConnectionLost: .connectionLost
            case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
                .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
                .clientCertificateRequired:
                .tls
            // On Linux: the connection was lost before the first byte of the response, or later.
            case .badServerResponse where message.contains("Empty reply"): .connectionLost
            case .unknown where message.contains("transfer closed") || message.contains("Recv failure"): .connectionLost
            // On Linux: recognized by OpenSSL's message, since the code is `unknown`.
            case .unknown where message.contains("SSL"): .tls
            // On Linux: the response doesn't start like HTTP.
            case .unsupportedURL: .malformedResponse
            case .badServerResponse, .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData: .malformedResponse
            case .requestBodyStreamExhausted: .requestBody
            default: .other
            }
        self.init(code, message)
    }
}
