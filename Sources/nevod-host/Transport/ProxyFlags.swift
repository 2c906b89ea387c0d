import NevodHost
import NevodSupport

/// The proxy: a flag's, or else the environment's; and its credential, which comes from no command line.
extension SessionBuilder {
    func proxy() throws -> ProxySettings {
        let proxy = try chosenProxy()
        // As in curl, connections to these hosts bypass even a proxy from a flag.
        let direct = ["no_proxy", "NO_PROXY"].compactMap(environment).first { !$0.isEmpty }
        return (arguments.value(.noProxy) ?? direct).map(proxy.bypassing) ?? proxy
    }

    private func chosenProxy() throws -> ProxySettings {
        guard let url = arguments.value(.proxy) else { return ProxySettings() }
        for secret in Redaction.secrets(inProxy: url) { Redaction.shared.learn(secret: secret) }
        try checkProxy(url)
        return url.isEmpty ? .none : ProxySettings(url: url)
    }

    func proxyUser() throws -> Secret? {
        guard let source = arguments.value(.proxyUser) else { return nil }
        guard arguments.has(.proxy) || arguments.typed.contains(where: { $0.name == .proxyUser }) else {
            throw UsageError(
                "--proxy-user is in the profile, which names no proxy, so the password would go to any proxy of the environment; "
                    + "write a line proxy = URL into the profile, or type --proxy-user")
        }
        let user = try UserSource(console: Console(arguments)).userAndPassword(source, flag: "-U", prompt: "Proxy password of")
        user.withUnsafeBytes { bytes in
            Redaction.shared.learn(secret: bytes)
            Redaction.shared.learn(secret: bytes.drop { $0 != UInt8(ascii: ":") }.dropFirst())
        }
        return user
    }
}
