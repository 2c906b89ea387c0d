// Importing NevodHost also imports the stores and Secret.
@_exported public import NevodStorage

@_exported public import class NevodSupport.Secret
