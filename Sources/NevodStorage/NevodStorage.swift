// Re-exported, because this module's API takes and returns secrets.
@_exported public import class NevodSupport.Secret
