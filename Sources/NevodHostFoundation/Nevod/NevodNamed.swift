public import NevodHost

/// A type with properties of Nevod's, in Foundation's types, beside its own of the same names.
///
/// They stand in extensions of this protocol: in an extension of the type itself, they would hide the type's own properties from files
/// that import this module only.
public protocol NevodNamed {}

extension CookieToken: NevodNamed {}
extension NetworkConfig: NevodNamed {}
extension RetryPolicy: NevodNamed {}
extension SimpleEnvironment: NevodNamed {}
