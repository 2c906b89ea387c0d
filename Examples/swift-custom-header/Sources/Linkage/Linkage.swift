// Nothing to compile. The library is linked with the flags of the kit's NevodPluginLinkage; the scheme's tests are not.
