// A user signs in, works, and is signed out by the server. Usage: sign-in PROXY, where servers/services.py listens and
// stands in for all of example.com. At its own address it is the authorization server, since one with TLS would need a certificate.
import Foundation
import NevodHostFoundation

guard CommandLine.arguments.count == 2 else {
    print("usage: sign-in PROXY")
    exit(2)
}
setenv("http_proxy", CommandLine.arguments[1], 1)
unsetenv("no_proxy")
unsetenv("NO_PROXY")

try await signInAndWork(issuer: CommandLine.arguments[1])
