package io.rdmacomm.compare.peer;

import org.openucx.jucx.UcxException;
import org.openucx.jucx.ucp.UcpContext;
import org.openucx.jucx.ucp.UcpParams;

/// Prints whether jucx works on this machine: its jar holds its own native code, but not UCX. It is tried in a
/// separate process, because the libraries stay loaded in the process that tries it.
public final class JucxProbe {
    /// The line with the verdict begins so.
    public static final String VERDICT = "jucx ";

    /// The verdict if it works.
    public static final String WORKS = "works";

    private JucxProbe() {}

    /// Makes a context and closes it.
    public static void main(String[] arguments) {
        System.out.println(VERDICT + verdict());
    }

    private static String verdict() {
        try {
            new UcpContext(new UcpParams().requestTagFeature().requestRmaFeature()).close();
            return WORKS;
        } catch (LinkageError | UcxException e) {
            return "fails: " + e.getMessage();
        }
    }
}
