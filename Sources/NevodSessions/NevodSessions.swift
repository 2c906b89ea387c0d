// An app's module imports only this one: it re-exports NevodHostFoundation, and with it NevodHost.
@_exported public import NevodHostFoundation
