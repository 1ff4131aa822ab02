/// The files that processes of one user on one host map: a folder for each context, its control file, and the rings
/// and tables in it. Knows no verbs object, no peer and no transport.
@NullMarked
package io.rdmacomm.soft.mapped;

import org.jspecify.annotations.NullMarked;
