// Programs that use Foundation import this module alone. It re-exports NevodHost and, on Linux, the module of `URLRequest`.
@_exported public import NevodHost

#if canImport(FoundationNetworking)
    @_exported public import FoundationNetworking
#endif
