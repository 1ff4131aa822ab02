package io.rdmacomm.comm.endpoint;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/// Flight recorder: an endpoint failed or could not be set up.
@Name("io.rdmacomm.Error")
@Label("Error")
@Category("rdmacomm")
@Description("An endpoint failed or could not be set up")
@StackTrace(false)
public final class ErrorEvent extends Event {
    @Label("End Point")
    String endPoint = "";

    @Label("Failure")
    String failure = "";

    /// Reports a failure, if the event is being recorded.
    ///
    /// @param endPoint its name, or the peer's address
    public static void report(String endPoint, Throwable failure) {
        ErrorEvent event = new ErrorEvent();
        if (event.shouldCommit()) {
            event.endPoint = endPoint;
            event.failure = String.valueOf(failure.getMessage());
            event.commit();
        }
    }
}
