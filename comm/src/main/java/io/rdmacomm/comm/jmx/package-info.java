/// The management beans of sessions, endpoints and channels, for JConsole and other clients of JMX. They are
/// registered while the system property `rdmacomm.jmx` is `on`, under names such as
/// `io.rdmacomm:type=Session,id=1,name="server-7"`.
@NullMarked
package io.rdmacomm.comm.jmx;

import org.jspecify.annotations.NullMarked;
