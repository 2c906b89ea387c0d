internal import NevodStorage

/// A cache's file while it is open.
struct OpenDiskCache: Sendable {
    let file: CacheFile
    let digests: KeyedDigest.Key
    let queue: DiskQueue
}

/// A cache's file as a request found it. Its response is stored in the same file, unless the resource has changed since.
struct DiskPlace: Sendable {
    let cache: OpenDiskCache
    let moment: CacheMoment
}
