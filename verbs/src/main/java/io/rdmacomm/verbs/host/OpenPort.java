package io.rdmacomm.verbs.host;

import io.rdmacomm.verbs.Context;

/// A device that was opened, and the port of it that is to be used.
///
/// @param context the caller closes it
/// @param number the port, counted from 1
public record OpenPort(Context context, int number) {}
