// Part of this module's API: a program that passes a secret names the type.
@_exported public import class NevodSupport.Secret
