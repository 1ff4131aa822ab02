package io.rdmacomm.verbs.host;

import io.rdmacomm.verbs.Context;

/// An open device, and its port to use.
///
/// @param context the caller closes it
/// @param number the port, counted from 1
public record OpenPort(Context context, int number) {}
