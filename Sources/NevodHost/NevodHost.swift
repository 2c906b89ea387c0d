// A program that imports NevodHost has its stores and its secrets as well.
@_exported public import NevodStorage

@_exported public import class NevodSupport.Secret
