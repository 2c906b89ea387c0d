// A user signs in, works, and is signed out by the server. Usage: sign-in PROXY, the address of servers/services.py, which acts as
// all of example.com. At its own address it is the authorization server, because one with TLS would need a certificate.
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
