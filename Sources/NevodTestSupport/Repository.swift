/// The repository's own folder.
package let repository = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
