internal import Foundation
internal import NevodHost
internal import NevodSupport

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Forwards each task's events to its transfer, and refuses redirects and challenges, which the host handles itself. It is the
/// delegate of the session, since Linux ignores the delegate of a task.
final class TransferDelegate: NSObject, URLSessionDataDelegate {
    private let transfers = Locked<[Int: URLTransfer]>([:])

    /// Registers a transfer until its task has finished.
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
            // The challenge arrives after the whole body of a 401, and the task can continue only with a credential.
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
        // For a redirect without a Location, `didReceive response` has not been called.
        if let response = task.response as? HTTPURLResponse { transfer.receiveHead(response) }
        transfer.finish(.success(()))
    }
}
