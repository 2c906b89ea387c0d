// One import for programs that use Foundation: everything of NevodHost, and on Linux the module of `URLRequest`.
@_exported public import NevodHost

#if canImport(FoundationNetworking)
    @_exported public import FoundationNetworking
#endif
