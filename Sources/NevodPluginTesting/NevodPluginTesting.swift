/// A host for the tests of schemes. It has a fixed clock, fixed random bytes and a scripted server, but no network.
@_exported public import NevodPluginABI
@_exported public import NevodSupport
