/// Digests, keys and signatures for the authors of schemes. A separate product, so that only a plugin that uses it needs libcrypto.
///
/// Random bytes come from the host, so that a scheme can be tested and replayed: `RequestView.random` and `AuthFlow.random`.
@_exported public import NevodPluginKit
