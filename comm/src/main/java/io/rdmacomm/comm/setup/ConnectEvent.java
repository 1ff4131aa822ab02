package io.rdmacomm.comm.setup;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/// Flight recorder: an endpoint was set up, from the first byte to ready to send.
@Name("io.rdmacomm.Connect")
@Label("Connect")
@Category("rdmacomm")
@Description("An endpoint was set up")
@StackTrace(false)
public final class ConnectEvent extends Event {
    @Label("End Point")
    public String endPoint = "";

    @Label("Data Channels")
    public int channels;

    @Label("Protocol Version")
    public int protocolVersion;

    @Label("Features")
    @Description("Of the protocol, those that both sides have; a bit each")
    public long features;
}
