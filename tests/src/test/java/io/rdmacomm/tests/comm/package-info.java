/// Tests of sessions, endpoints and channels, on the software device.
package io.rdmacomm.tests.comm;
