internal import CSecretService
internal import NevodStorage

/// libsecret and GLib.
final class SecretLibrary: Sendable {
    let call: nevod_secret

    init() throws(StorageError) {
        call = try SystemLibrary("libsecret-1.so.0", package: "libsecret-1-0", version: "0.18").load(
            nevod_secret(), nevod_secret_find)
    }
}
