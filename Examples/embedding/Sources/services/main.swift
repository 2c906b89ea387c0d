// Services with different schemes, as in their guide. Usage: services PROXY, the address of servers/services.py, which acts as all
// of example.com.
import Foundation
import NevodHostFoundation

guard CommandLine.arguments.count == 2 else {
    print("usage: services PROXY")
    exit(2)
}
setenv("http_proxy", CommandLine.arguments[1], 1)
unsetenv("no_proxy")
unsetenv("NO_PROXY")

let memory = InMemoryStorage()

try await oneChain(keychain: memory, userDefaults: UserDefaultsStorage())
try await conditionalAuthentication(keychain: memory)
try await container(keychain: memory)
try await severalInterceptors(keychain: memory)
try await ownInterceptor()
try await limits()
try await loginAndLogout()
