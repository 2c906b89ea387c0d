/// A host for the tests of schemes: with a fixed clock, fixed random bytes and a scripted server, and without a network.
@_exported public import NevodPluginABI
@_exported public import NevodSupport
