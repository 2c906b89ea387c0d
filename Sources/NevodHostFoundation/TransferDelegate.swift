internal import Foundation
internal import NevodHost
internal import NevodSupport

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Hands what comes to the transfer that waits for it, and refuses what the host does itself: redirects and challenges.
/// One for the session, since on Linux a task's own delegate is not asked.
final class TransferDelegate: NSObject, URLSessionDataDelegate {
    private let transfers = Locked<[Int: URLTransfer]>([:])

    /// Until the task is over.
    func add(_ transfer: URLTransfer, _ task: URLSessionTask) {
        let id = task.taskIdentifier
        transfers.withLock { $0[id] = transfer }
    }

    var isIdle: Bool { transfers.withLock { $0.isEmpty } }

    private func transfer(of task: URLSessionTask) -> URLTransfer? {
        let id = task.taskIdentifier
        return transfers.withLock { $0[id] }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if canImport(FoundationNetworking)
            // It comes behind the whole body of a 401, and there is no way to go on but with a credential.
            transfer(of: task)?.finish(.success(()))
            completionHandler(.cancelAuthenticationChallenge, nil)
        #else
            let isCertificate = challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust
            completionHandler(isCertificate ? .performDefaultHandling : .rejectProtectionSpace, nil)
        #endif
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if let response = response as? HTTPURLResponse { transfer(of: dataTask)?.receiveHead(response) }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transfer(of: dataTask)?.receive(data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let id = task.taskIdentifier
        guard let transfer = transfers.withLock({ $0.removeValue(forKey: id) }) else { return }
        if let error { return transfer.finish(.failure(TransportError(error))) }
        // The head of a redirect without a Location has not been announced.
        if let response = task.response as? HTTPURLResponse { transfer.receiveHead(response) }
        transfer.finish(.success(()))
    }
}
