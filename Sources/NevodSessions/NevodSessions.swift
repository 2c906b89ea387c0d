// An app's module imports only this one: it re-exports NevodHostFoundation, and with it NevodHost, and NevodJWT.
@_exported public import NevodHostFoundation
@_exported public import NevodJWT
