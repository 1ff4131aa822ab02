package io.rdmacomm.cli.copy;

/// The choices for a file that exists in the receiver's directory. The order is part of the wire format.
enum Existing {
    /// The new file replaces it when it is complete, as with cp(1).
    OVERWRITE,
    /// It stays, and the new file is not transferred.
    SKIP,
    /// It stays if its size and modification time are the same, as with rsync(1); otherwise the new file replaces
    /// it.
    UPDATE,
    /// It stays, and the new file gets the first free name of NAME.1, NAME.2 and so on.
    RENAME
}
