// Nothing to compile: the library is linked with what the kit's NevodPluginLinkage says, and tests of the scheme are not.
