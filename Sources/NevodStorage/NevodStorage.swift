// What embedders name when they hand over a secret.
@_exported public import class NevodSupport.Secret
